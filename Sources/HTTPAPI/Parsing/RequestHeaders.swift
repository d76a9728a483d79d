package import Domain
package import HTTPTypes

/// The header fields of a request that Purser reads; others are not examined.
///
/// Each value contains horizontal tab and U+0020 to U+007E only, so that it costs no more than its bytes however it is read.
///
/// Source: RFC 9110 section 5.5 (`field-vchar`, without `obs-text`)
package struct RequestHeaders: Sendable {
    /// A field that Purser reads.
    package enum Field: String, CaseIterable, Sendable {
        case accept = "Accept"
        case authorization = "Authorization"
        case contentType = "Content-Type"
        /// The key of a request that may be repeated (draft-ietf-httpapi-idempotency-key-header).
        case idempotencyKey = "Idempotency-Key"
        /// What the client would like (RFC 7240 section 2).
        case prefer = "Prefer"
        case purserOperator = "Purser-Operator"
        case traceparent
        case tracestate
        /// The addresses that proxies on the way have seen; read only where the listener trusts a proxy.
        case xForwardedFor = "X-Forwarded-For"
        case xRequestID = "X-Request-ID"
    }

    private static let fields = Dictionary(
        uniqueKeysWithValues: Field.allCases.compactMap { field in HTTPField.Name(field.rawValue).map { ($0, field) } })

    /// The fields that decide who calls and from where; all others are examined after the scope check.
    package static let readForAuthentication: [Field] = [.authorization, .xForwardedFor]

    private var values: [(field: Field, value: String)] = []
    /// The fields with a value that contains another character, which is left out; each once.
    private var invalid: [Field] = []

    /// `trustsProxy`: whether `X-Forwarded-For` is read.
    package init(_ headers: HTTPFields, trustsProxy: Bool = false) {
        for header in headers {
            guard let field = Self.fields[header.name], field != .xForwardedFor || trustsProxy else { continue }
            if header.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) {
                values.append((field, header.value))
            } else if !invalid.contains(field) {
                invalid.append(field)
            }
        }
    }

    /// The value of a field that is sent once; of several, all joined by commas (RFC 9110 section 5.3).
    package subscript(_ field: Field) -> String? {
        let found = self[values: field]
        return found.count > 1 ? found.joined(separator: ", ") : found.first
    }

    /// The same fields without `Authorization`, for what lasts longer than authentication.
    var withoutCredential: RequestHeaders {
        var headers = self
        headers.values.removeAll { $0.field == .authorization }
        return headers
    }

    package subscript(values field: Field) -> [String] { values.filter { $0.field == field }.map(\.value) }

    /// Checks the characters of some fields.
    ///
    /// - Throws: `invalidRequest` naming the first of them whose value contains another character.
    package func check(_ fields: [Field] = Field.allCases) throws(ServiceError) {
        guard let invalid = invalid.first(where: fields.contains) else { return }
        throw .invalid([
            Violation(
                field: invalid.rawValue, rule: "characters",
                message: "The header field `\(invalid.rawValue)` may contain tab and U+0020 to U+007E only.")
        ])
    }
}

extension HTTPField.Name {
    /// Which preferences were honoured (RFC 7240 section 3).
    static let preferenceApplied = HTTPField.Name("Preference-Applied") ?? .via
}
