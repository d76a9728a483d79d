import Domain
import Foundation

/// Reads the query of a request target.
///
/// Source: RFC 3986 section 3.4; `+` stands for itself.
enum QueryString {
    /// The most parameters of one request.
    static let maximumParameters = 200

    /// Splits and percent-decodes a query.
    ///
    /// - Throws: `invalidRequest` when there are too many parameters or one is not valid percent-encoded UTF-8.
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
            guard let name = PercentDecoding.decode(parts[0]),
                let value = parts.count > 1 ? PercentDecoding.decode(parts[1]) : ""
            else {
                throw .invalid([
                    Violation(
                        field: "query", rule: "encoding", message: "The query is not valid percent-encoded UTF-8.")
                ])
            }
            result.append((name, value))
        }
        return result
    }
}

/// Undoes percent-encoding (RFC 3986 section 2.1).
enum PercentDecoding {
    /// The text that was encoded; nil when that is not valid UTF-8.
    static func decode(_ text: Substring) -> String? {
        // Nearly all texts are as they are.
        text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : String(text)
    }
}
