import Foundation

/// A request as the simulator's services see it, whatever the HTTP version.
struct IncomingRequest: Sendable {
    let method: String
    /// Path and query as they came, percent-encoded.
    let target: String
    let authorization: String?
    let contentType: String?
    /// When its end came in.
    let arrival: Date
    /// Nil when the body is longer than the listener takes.
    var body: [UInt8]?

    /// The request without its body, if that is longer.
    func limited(to count: Int) -> IncomingRequest {
        var request = self
        if let body, body.count > count { request.body = nil }
        return request
    }

    /// The path, percent-encoded.
    var path: Substring { target.prefix { $0 != "?" } }

    /// The query's parameters, decoded.
    var query: [QueryItem] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return QueryItem.parse(target[target.index(after: mark)...])
    }
}

/// A parameter of a query, decoded.
struct QueryItem: Sendable, Hashable {
    let name: String
    let value: String

    /// Reads a query; a plus sign stands for a blank, as in forms.
    static func parse(_ query: Substring) -> [QueryItem] {
        query.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryItem(
                name: String(percentDecoding: parts[0], plusIsBlank: true),
                value: parts.count > 1 ? String(percentDecoding: parts[1], plusIsBlank: true) : "")
        }
    }
}

extension String {
    /// Percent-decoding by RFC 3986 section 2.1; a percent sign without two hexadecimal digits stays what it is.
    init(percentDecoding text: some StringProtocol, plusIsBlank: Bool = false) {
        var decoded: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = Self.hexadecimal(rest.prefix(2)) {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "+"), plusIsBlank {
                decoded.append(UInt8(ascii: " "))
            } else {
                decoded.append(byte)
            }
        }
        self.init(decoding: decoded, as: UTF8.self)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.count == 2, let high = digit(digits.first), let low = digit(digits.last) else { return nil }
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        switch byte {
        case .some(let byte) where UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte: byte - UInt8(ascii: "0")
        case .some(let byte) where UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte: byte - UInt8(ascii: "a") + 10
        case .some(let byte) where UInt8(ascii: "A")...UInt8(ascii: "F") ~= byte: byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
