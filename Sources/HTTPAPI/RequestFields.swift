import Domain
import Foundation
import JSON

// What the routes read of a request, each by the one reader.

extension RequestInput {
    /// A reader of path, query and, where the route takes one, body.
    ///
    /// `headers`: those that the route knows.
    ///
    /// - Throws: `malformedJSON` with the place of the fault.
    func fields(headers known: [RequestHeaders.Field] = []) throws(ServiceError) -> FieldReader {
        var fields = FieldReader(
            path: parameters, query: query,
            headers: known.flatMap { field in headers[values: field].map { (field.rawValue, $0) } },
            body: try body.map(FieldValue.fields(of:)) ?? [:])
        if hasUnexpectedBody {
            fields.note(
                "body", "unexpected",
                "This route takes no body and would ignore what it says; leave it out. What the route knows goes into its path and query."
            )
        }
        return fields
    }
}

extension RequestInput {
    /// A member of the body byte for byte as it was sent; nil where there is none.
    func bodyMember(_ name: String) -> [UInt8]? {
        guard let body, let members = try? JSONScanner.members(of: body) else { return nil }
        return members[name].map { Array($0.rawBytes) }
    }

    /// The user of a request that gives nothing else.
    ///
    /// - Throws: `invalidRequest` with every violation.
    func user() throws(ServiceError) -> UserID {
        var fields = try fields()
        let user = fields.user()
        guard fields.isValid, let user else { throw fields.error }
        return user
    }

    /// What a request gives that is about one transaction and nothing else.
    ///
    /// - Throws: `invalidRequest` with every violation, `environmentNotAllowed`.
    func transaction(_ app: App, takesInclude: Bool = false) throws(ServiceError) -> TransactionRequest {
        var fields = try fields()
        let request = TransactionRequest(&fields, app, takesInclude: takesInclude)
        guard fields.isValid, let request else { throw fields.error }
        return request
    }
}

// MARK: What many routes read

extension FieldReader {
    /// The user of the path, or the query's that a list is filtered by.
    mutating func user(in position: Position = .path) -> UserID? {
        guard let text = text("user", in: position) else { return nil }
        return check { () throws(ServiceError) in try UserID(text) }
    }

    /// `environment`, as the app admits it.
    mutating func environment(
        for app: App, in position: Position = .query, isRequired: Bool = false
    ) -> AppStoreEnvironment? {
        let environment = value(
            "environment", in: position, isRequired: isRequired, expected: "`Production` or `Sandbox`", rule: "enum"
        ) { AppStoreEnvironment(rawValue: $0) }
        guard let environment else { return nil }
        return check { () throws(ServiceError) in
            try app.require(environment)
            return environment
        }
    }

    /// A time that may be left out, to the millisecond.
    mutating func time(_ name: String, in position: Position = .body) -> Date? {
        value(
            name, in: position, isRequired: false, expected: "an RFC 3339 time, such as 2026-01-31T12:00:00Z"
        ) { Timestamp.date($0) }
    }

    /// A query parameter that is `true` or `false`; absent means false.
    mutating func flag(_ name: String) -> Bool { boolean(name, in: .query, isRequired: false) ?? false }

    /// Whether `include=signed` asks for the signed form.
    mutating func includesSigned() -> Bool { choice("include", ["signed"]) != nil }

    /// Whether `version=1` asks for Apple's deprecated endpoint.
    mutating func wantsVersion1() -> Bool { choice("version", ["1", "2"]) == "1" }

    /// Whether `source=stored` asks for what is kept, and for nothing else.
    mutating func wantsStored() -> Bool { choice("source", ["live", "stored"]) == "stored" }

    /// A query parameter that can only be one of these.
    private mutating func choice(_ name: String, _ choices: [String]) -> String? {
        guard let text = text(name, in: .query) else { return nil }
        guard choices.contains(text) else {
            let known = choices.map { "`\($0)`" }.joined(separator: " or ")
            note(name, "enum", "`\(name)` can only be \(known).")
            return nil
        }
        return text
    }

    /// The key by which a client lets a request that it repeats be recognised, if it sent one.
    ///
    /// Source: https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/; taken as it is sent, in quotes or
    /// not.
    mutating func idempotencyKey() -> String? {
        string(
            RequestHeaders.Field.idempotencyKey.rawValue, in: .header, isRequired: false,
            expected: "1 to \(IdempotencyKey.maximumLength) visible ASCII characters"
        ) { key in
            (1...IdempotencyKey.maximumLength).contains(key.utf8.count)
                && key.utf8.allSatisfy((UInt8(ascii: "!")...UInt8(ascii: "~")).contains)
        }
    }
}

/// What a request about one transaction gives by path and query.
struct TransactionRequest: Sendable {
    let identifier: String
    let environment: AppStoreEnvironment?
    let includesSigned: Bool

    /// Reads path and query; nil when the identifier breaks its rule.
    init?(
        _ fields: inout FieldReader, _ app: App, _ kind: AppleIdentifier = .transaction, takesInclude: Bool = false
    ) {
        let identifier = fields.identifier("transactionId", kind, in: .path)
        environment = fields.environment(for: app)
        includesSigned = takesInclude ? fields.includesSigned() : false
        guard let identifier else { return nil }
        self.identifier = identifier
    }
}

/// What a request about one user gives by path and query.
struct UserRequest: Sendable {
    let user: UserID
    let environment: AppStoreEnvironment?
    let includesSigned: Bool
    /// Whether parts that fail are reported as gaps instead of failing the whole.
    let isPartialAllowed: Bool

    /// Reads path and query; nil when the user's id breaks its rule.
    init?(_ fields: inout FieldReader, _ app: App) {
        let user = fields.user()
        environment = fields.environment(for: app)
        includesSigned = fields.includesSigned()
        isPartialAllowed = fields.flag("partial")
        guard let user else { return nil }
        self.user = user
    }
}
