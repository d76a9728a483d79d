import CCurl
package import Foundation

/// A complete response.
///
/// Every status is one, also 4xx and 5xx; a transfer that brings none throws ``CurlError``.
package struct CurlResponse: Sendable {
    /// The protocol that the response came by.
    package enum HTTPVersion: Sendable, Equatable {
        case http1
        case http2
        /// A version that we never ask for.
        case other
    }

    package let status: Int
    package let httpVersion: HTTPVersion
    /// The final response's fields: none of interim (1xx) or proxy responses, and no trailers.
    package let headers: CurlHeaders
    package let body: [UInt8]
    /// Time from handing the transfer to curl to its end.
    package let total: Duration
    /// Part of ``total`` until the TCP connection was there; about zero on a connection that was there already.
    package let connect: Duration
    package let connectionWasReused: Bool
    /// Whether curl had sent the request before, on a kept connection that then brought nothing, or whose stream was refused: nobody
    /// knows whether the server has acted on that.
    package let wasSentBefore: Bool
}

/// The header fields of a response, in the order in which they came; a name may occur more than once.
///
/// They are kept as they came and read when somebody asks: most answers are used without a look at their fields.
package struct CurlHeaders: Sendable {
    private struct Field {
        let name: Range<Int>
        var value: Range<Int>
    }

    /// Room that is made at once, enough for most responses.
    private static let (usualBytes, usualFields) = (512, 16)

    /// All names and values, one after the other.
    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    init() {}

    /// The value of the first field with this name, compared without regard to ASCII case.
    package subscript(_ name: String) -> String? { fields.first { has($0, name) }.map { text($0.value) } }

    /// The values of all fields with this name, in their order.
    package func values(of name: String) -> [String] {
        fields.filter { has($0, name) }.map { text($0.value) }
    }

    mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
        if fields.isEmpty {
            bytes.reserveCapacity(Self.usualBytes)
            fields.reserveCapacity(Self.usualFields)
        }
        let start = bytes.count
        bytes.append(contentsOf: name)
        let middle = bytes.count
        bytes.append(contentsOf: value)
        fields.append(Field(name: start..<middle, value: middle..<bytes.count))
    }

    /// Continues the last field's value by a line that was folded (RFC 9112, section 5.2).
    mutating func extendLast(by text: some Collection<UInt8>) {
        guard let last = fields.indices.last, !text.isEmpty else { return }
        if !fields[last].value.isEmpty { bytes.append(UInt8(ascii: " ")) }
        bytes.append(contentsOf: text)
        fields[last].value = fields[last].value.lowerBound..<bytes.count
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func has(_ field: Field, _ name: String) -> Bool {
        Self.areEqual(bytes[field.name], name.utf8)
    }

    /// Whether two names are the same without regard to ASCII case.
    static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }

    /// When the server says that it answered: the `Date` field, to the second.
    ///
    /// Nil when there is none, or none that can be read.
    /// Source: RFC 9110 section 6.6.1; https://curl.se/libcurl/c/curl_getdate.html
    package var date: Date? { self["Date"].flatMap(Self.date) }

    /// How long the server asks to be left alone: the `Retry-After` field, in seconds or as a date, which counts from the answer's
    /// own `Date`, so that clocks which differ do no harm.
    ///
    /// Nil when there is none, or none that can be read; never negative. Apple's API gives milliseconds in it, and is not meant here.
    ///
    /// `now`: when the answer came, where it does not say.
    /// Source: RFC 9110 section 10.2.3
    package func retryAfter(at now: Date) -> Duration? {
        guard let text = self["Retry-After"] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            return .seconds(Int64(text).map { Swift.min($0, Self.longestWait) } ?? Self.longestWait)
        }
        return Self.date(text).map { until in
            .seconds(Swift.min(Swift.max(0, until.timeIntervalSince(date ?? now)), Double(Self.longestWait)))
        }
    }

    /// What a longer wait counts as, in seconds: a year.
    private static let longestWait: Int64 = 365 * 86_400

    private static func date(_ text: String) -> Date? {
        let seconds = curl_getdate(text, nil)
        return seconds == -1 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}

extension CurlHeaders: RandomAccessCollection {
    package var startIndex: Int { fields.startIndex }
    package var endIndex: Int { fields.endIndex }

    package subscript(position: Int) -> (name: String, value: String) {
        (text(fields[position].name), text(fields[position].value))
    }
}

/// Gathers a response from the pieces that curl hands out, within its limits.
struct ResponseCollector {
    private(set) var headers = CurlHeaders()
    private(set) var body: [UInt8] = []
    /// What was too much, once something was.
    private(set) var excess: String?

    private let maximumHeaderBytes: Int
    private let maximumBodyBytes: Int
    private var headerBytes = 0
    private var isInterim = false
    /// Set by the empty line after the final response's fields; what follows are trailers.
    private var headersAreComplete = false

    init(maximumHeaderBytes: Int, maximumBodyBytes: Int) {
        self.maximumHeaderBytes = maximumHeaderBytes
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// Takes in one header line, status lines included, in the form of HTTP/1.1 whatever the version.
    ///
    /// - Parameter bytes: The line with its end.
    /// - Returns: False if the transfer must end because there is too much.
    mutating func receiveHeader(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= maximumHeaderBytes else {
            excess = "the header exceeds \(maximumHeaderBytes) bytes"
            return false
        }
        guard !headersAreComplete else { return true }
        var end = bytes.count
        while end > 0, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        guard end > 0 else {
            headersAreComplete = !isInterim
            return true
        }
        let line = bytes[..<end]
        if line.starts(with: "HTTP/".utf8) {
            headers.removeAll()
            isInterim = line.drop { $0 != UInt8(ascii: " ") }.dropFirst().first == UInt8(ascii: "1")
        } else if Self.isBlank(bytes[0]) {
            headers.extendLast(by: Self.trimmed(line))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            headers.append(name: Self.trimmed(line[..<colon]), value: Self.trimmed(line[(colon + 1)...]))
        }
        return true
    }

    /// Takes in a piece of the content.
    ///
    /// - Parameter bytes: The piece.
    /// - Returns: False if the transfer must end because there is too much.
    mutating func receiveBody(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard body.count + bytes.count <= maximumBodyBytes else {
            excess = "the content exceeds \(maximumBodyBytes) bytes"
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// The text without white space at its ends (RFC 9110, section 5.5).
    private static func trimmed(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Slice<UnsafeBufferPointer<UInt8>> {
        var (start, end) = (text.startIndex, text.endIndex)
        while start < end, isBlank(text[start]) { start += 1 }
        while start < end, isBlank(text[end - 1]) { end -= 1 }
        return text[start..<end]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
