import Domain
import Foundation
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore
import Synchronization

/// What a handler answers with.
struct Answer: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// Written piece by piece; the status is sent before the first.
        case stream(@concurrent @Sendable (inout any ResponseBodyWriter) async throws -> Void)
    }

    let status: HTTPResponse.Status
    let contentType: String
    var headers: HTTPFields = [:]
    let body: Body

    static let json = "application/json; charset=utf-8"

    /// An answer of one JSON object.
    static func object(
        _ status: HTTPResponse.Status = .ok, capacity: Int = 512, _ members: (inout JSONWriter) -> Void
    ) -> Answer {
        var writer = JSONWriter(capacity: capacity)
        writer.object(members)
        return Answer(status: status, contentType: json, body: .bytes(writer.takeBytes()))
    }

    /// The same answer to HEAD: without its body, but with the length that it has (RFC 9110 section 8.6).
    ///
    /// What is written piece by piece is written for its length, as no answer may be left open that has no body to end.
    func withoutBody() async -> Answer {
        let length: Int
        switch body {
        case .bytes(let bytes): length = bytes.count
        case .stream(let write):
            let counter = BodyLength()
            var writer: any ResponseBodyWriter = counter
            // It cannot fail but by a client that is gone, whom no answer reaches.
            try? await write(&writer)
            length = counter.count
        }
        var head = Answer(status: status, contentType: contentType, headers: headers, body: .bytes([]))
        head.headers[.contentLength] = String(length)
        return head
    }

    /// Counts what would be sent.
    private final class BodyLength: ResponseBodyWriter {
        // Written by one task at a time: the body's own.
        nonisolated(unsafe) private(set) var count = 0

        func write(_ buffer: ByteBuffer) async throws { count += buffer.readableBytes }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    /// The fields of the answer's head; `preferenceApplied`: which of the client's preferences were honoured, if any.
    private func fields(requestID: String, date: String, preferenceApplied: String? = nil) -> HTTPFields {
        var fields = headers
        // None of these stands in `headers`; appended, they need not be looked up.
        fields.append(HTTPField(name: .contentType, value: contentType))
        fields.append(HTTPField(name: .cacheControl, value: "no-store"))
        fields.append(HTTPField(name: .xRequestID, value: requestID))
        fields.append(HTTPField(name: .date, value: date))
        if let preferenceApplied { fields.append(HTTPField(name: .preferenceApplied, value: preferenceApplied)) }
        return fields
    }

    /// The answer as HummingbirdCore sends it.
    func response(requestID: String, date: String, preferenceApplied: String?) -> Response {
        let fields = fields(requestID: requestID, date: date, preferenceApplied: preferenceApplied)
        switch body {
        case .bytes(let bytes):
            return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        case .stream(let write):
            return Response(status: status, headers: fields, body: ResponseBody(write))
        }
    }
}

extension Answer {
    /// The answer as the listener sends it by itself, without its length: that of a failure, which is no stream.
    func early(requestID: String, date: String) -> (head: HTTPResponse, body: ByteBuffer) {
        let bytes: [UInt8] = if case .bytes(let bytes) = body { bytes } else { [] }
        return (
            HTTPResponse(status: status, headerFields: fields(requestID: requestID, date: date)),
            ByteBuffer(bytes: bytes)
        )
    }
}

extension HTTPField.Name {
    /// The header that names a request in answers and logs.
    static let xRequestID = HTTPField.Name("X-Request-ID") ?? .via
}

/// The `Date` header, formatted once a second (RFC 9110 section 5.6.7).
final class HTTPDateClock: Sendable {
    private struct Formatted {
        var second: Int64
        var text: String
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private let now: WallClock
    private let cached = Mutex(Formatted(second: .min, text: ""))

    init(now: @escaping WallClock) { self.now = now }

    func text() -> String {
        let second = Int64(now().timeIntervalSince1970.rounded(.down))
        return cached.withLock { cached in
            if cached.second != second { cached = Formatted(second: second, text: Self.format(second)) }
            return cached.text
        }
    }

    /// An IMF-fixdate from a UNIX time; the calendar arithmetic is that of the proleptic Gregorian calendar.
    static func format(_ second: Int64) -> String {
        let date = Date(timeIntervalSince1970: TimeInterval(second))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        func padded(_ value: Int?, _ width: Int) -> String {
            let digits = String(value ?? 0)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let dayNumber = Int((second / 86_400) - (second % 86_400 < 0 ? 1 : 0))
        let weekday = days[((dayNumber % 7) + 7) % 7]
        let time = [parts.hour, parts.minute, parts.second].map { padded($0, 2) }.joined(separator: ":")
        return
            "\(weekday), \(padded(parts.day, 2)) \(months[(parts.month ?? 1) - 1]) \(padded(parts.year, 4)) \(time) GMT"
    }
}
