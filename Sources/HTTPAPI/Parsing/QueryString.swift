import Domain
import JSON

/// Reads the query of a request target.
///
/// Source: RFC 3986 section 3.4; `+` stands for itself.
enum QueryString {
    /// The most parameters of one request.
    static let maximumParameters = 200

    /// Splits and percent-decodes a query.
    ///
    /// - Throws: `invalidRequest` when there are too many parameters or one is not valid percent-encoded UTF-8, or not
    ///   stream-safe.
    static func parse(_ query: String?) throws(ServiceError) -> [(name: String, value: String)] {
        guard let query, !query.isEmpty else { return [] }
        let pairs = query.utf8.split(separator: UInt8(ascii: "&"))
        guard pairs.count <= maximumParameters else {
            throw .invalid([
                Violation(field: "query", rule: "count", message: "At most \(maximumParameters) query parameters.")
            ])
        }
        var result: [(name: String, value: String)] = []
        for pair in pairs {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map(Substring.init)
            let name = try PercentDecoding.decode(parts[0], of: "query", "The query")
            result.append((name, parts.count > 1 ? try PercentDecoding.decode(parts[1], of: "query", "The query") : ""))
        }
        return result
    }
}

/// Undoes percent-encoding (RFC 3986 section 2.1).
enum PercentDecoding {
    /// The text that was encoded.
    ///
    /// `field` and `subject`: what a violation names, and how its sentence begins.
    ///
    /// - Throws: `invalidRequest` when it is not valid percent-encoded UTF-8, or not stream-safe.
    static func decode(_ text: Substring, of field: String, _ subject: String) throws(ServiceError) -> String {
        guard let decoded = decode(text) else {
            throw .invalid([
                Violation(field: field, rule: "encoding", message: "\(subject) is not valid percent-encoded UTF-8.")
            ])
        }
        guard let checked = decoded.checked else {
            throw .invalid([
                Violation(
                    field: field, rule: "characters",
                    message: "\(subject) cannot be used: \(UntrustedText.longRunFault).")
            ])
        }
        return checked
    }

    /// The text that was encoded; nil when that is not valid UTF-8.
    static func decode(_ text: Substring) -> UntrustedText? {
        let encoded = text.utf8
        // Nearly all text is not encoded.
        guard encoded.contains(UInt8(ascii: "%")) else { return UntrustedText(String(text)) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(encoded.count)
        var bytes = encoded.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = bytes.next().flatMap(digit), let low = bytes.next().flatMap(digit) else { return nil }
            decoded.append(high << 4 | low)
        }
        return UntrustedText(validating: decoded)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
