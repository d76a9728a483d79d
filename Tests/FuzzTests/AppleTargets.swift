import AppStoreAPI
import Foundation
import JSON

@testable import Curl

/// What Apple sends, or whoever answers in its place.
let appleTargets = [
    FuzzTarget(name: "apple-models") { bytes in
        try stable(bytes, as: NotificationPayload.self)
        try stable(bytes, as: TransactionPayload.self)
        try stable(bytes, as: RenewalInfoPayload.self)
        try stable(bytes, as: AppTransactionPayload.self)
        try stable(bytes, as: RealtimeRequestPayload.self)
        try stable(bytes, as: ResponseBodyV2.self)
        try stable(bytes, as: ErrorPayload.self)
        try stable(bytes, as: HistoryResponse.self)
        try stable(bytes, as: StatusResponse.self)
        try stable(bytes, as: NotificationHistoryResponse.self)
        // Those that callers send to the Apple-compatible listeners.
        try stable(bytes, as: ConsumptionRequest.self)
        try stable(bytes, as: ConsumptionRequestV1.self)
    },
    FuzzTarget(name: "http-header") { bytes in
        var collector = ResponseCollector(maximumHeaderBytes: 2048, maximumBodyBytes: 0)
        var line: [UInt8] = []
        for byte in bytes {
            line.append(byte)
            guard byte == UInt8(ascii: "\n") else { continue }
            guard line.withUnsafeBufferPointer({ collector.receiveHeader($0) }) else { break }
            line.removeAll()
        }
        let headers = collector.headers
        for (name, value) in headers where name.utf8.allSatisfy({ $0 < 0x80 }) {
            let ends = [value.utf8.first, value.utf8.last]
            try hold(!ends.contains { $0 == 0x20 || $0 == 0x09 }, "a value with blanks around it")
            let shouted = String(decoding: name.utf8.map { (0x61...0x7A).contains($0) ? $0 ^ 0x20 : $0 }, as: UTF8.self)
            try hold(headers.values(of: shouted).contains(value), "a field is not found by its name")
        }
        if let date = headers.date {
            var again = CurlHeaders()
            again.append(name: "date".utf8, value: httpDate(date).utf8)
            // Years of more than four digits have no form in HTTP; those before 1970 are not put to the test.
            if (0..<253_402_300_800).contains(date.timeIntervalSince1970) {
                try hold(again.date == date, "\(httpDate(date)) is read as another time")
            }
        }
        if let wait = headers["Retry-After"].flatMap(RetryAfter.init(headerValue:)) {
            try hold(RetryAfter(headerValue: wait.headerValue) == wait, "a time is read otherwise than it was written")
        }
    },
]

/// Reads, writes, and reads again what was written.
private func stable<Model: WireModel>(_ bytes: [UInt8], as type: Model.Type) throws {
    guard let model = try? type.init(parsing: bytes) else {
        return try hold((try? JSONScanner.members(of: bytes)) == nil, "\(type) refuses an object")
    }
    let written = model.serialized()
    let again = try type.init(parsing: written)
    try hold(again == model, "\(type) is read otherwise than it was written")
    try hold(again.serialized() == written, "\(type) is written otherwise the second time")
    let members = try JSONScanner.members(of: bytes)
    let known = Set(type.fields.map(\.name))
    // A dictionary takes names for the same that are canonically equivalent.
    let others = Set(members.keys.filter { name in !known.contains { $0.utf8.elementsEqual(name.utf8) } })
    try hold(model.additional.count == others.count, "\(type) loses members that it does not know")
}

/// The one form in which a time is sent (RFC 9110 section 5.6.7).
private func httpDate(_ date: Date) -> String {
    let style = Date.VerbatimFormatStyle(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
            \(second: .twoDigits) GMT
            """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
    return date.formatted(style)
}
