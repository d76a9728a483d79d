import Domain
import HTTPTypes

/// The key by which a client lets a request that it repeats be recognised.
///
/// Source: https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/; taken as it is sent, in quotes or not.
enum IdempotencyKeyHeader {
    static let name = "Idempotency-Key"

    /// The key, if the client sent one.
    ///
    /// - Throws: `invalidRequest`.
    static func key(_ headers: HTTPFields) throws(ServiceError) -> String? {
        let values = headers[values: .idempotencyKey]
        guard let key = values.first else { return nil }
        guard values.count == 1 else { throw violation("repeated", "may be given once") }
        guard (1...IdempotencyKey.maximumLength).contains(key.utf8.count),
            key.utf8.allSatisfy((UInt8(ascii: "!")...UInt8(ascii: "~")).contains)
        else {
            throw violation("format", "has 1 to \(IdempotencyKey.maximumLength) visible ASCII characters")
        }
        return key
    }

    private static func violation(_ rule: String, _ what: String) -> ServiceError {
        .invalid([Violation(field: name, rule: rule, message: "The header `\(name)` \(what).")])
    }
}

extension HTTPField.Name {
    static let idempotencyKey = HTTPField.Name(IdempotencyKeyHeader.name) ?? .via
}
