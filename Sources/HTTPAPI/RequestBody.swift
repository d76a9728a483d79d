import Domain
import Foundation
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore

/// Reads a request's body whole, within its limit.
enum RequestBodyReader {
    /// The bytes of the body that a route takes; empty when it takes none.
    ///
    /// - Throws: `unsupportedMediaType`, `payloadTooLarge`.
    static func read(_ request: Request, _ body: Route.Body, maximumBytes: Int) async throws(ServiceError) -> [UInt8] {
        guard body != .none else { return [] }
        let isDeclared = isJSON(request.headers[.contentType])
        guard isDeclared || body == .optionalJSON else { throw undeclared }
        let bytes = try await collect(request, maximumBytes: maximumBytes)
        if body == .optionalJSON, bytes.isEmpty { return Array("{}".utf8) }
        guard isDeclared else { throw undeclared }
        return bytes
    }

    private static var undeclared: ServiceError {
        ServiceError(.unsupportedMediaType, "Send the body as `Content-Type: application/json`.")
    }

    /// The body's bytes, whatever they are.
    ///
    /// - Throws: `payloadTooLarge`.
    static func collect(_ request: Request, maximumBytes: Int) async throws(ServiceError) -> [UInt8] {
        do {
            let buffer = try await request.body.collect(upTo: maximumBytes)
            return Array(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw ServiceError(.payloadTooLarge, "The body is larger than \(maximumBytes) bytes.")
        } catch {
            // The client has broken off, or was cut off; nobody reads this.
            throw ServiceError(.internalError, "Internal error.", cause: "\(type(of: error)): \(error)")
        }
    }

    private static func isJSON(_ contentType: String?) -> Bool {
        guard let mediaType = contentType?.split(separator: ";").first else { return false }
        return mediaType.lowercased().filter { $0 != " " } == "application/json"
    }
}

/// Reads the fields of a small body one by one and keeps every rule that one of them breaks.
struct BodyFields {
    private static let timeForm = "an RFC 3339 time, such as 2026-01-31T12:00:00Z"

    private var rest: [String: FieldValue]
    private var violations: [Violation] = []

    init(_ members: JSONMembers) { rest = members.fieldValues }

    /// A text within these bounds, in bytes of UTF-8.
    mutating func text(_ name: String, isRequired: Bool = true, bytes: ClosedRange<Int>) -> String? {
        let expected = "a text of \(bytes.lowerBound) to \(bytes.upperBound) bytes"
        guard let value = take(name, isRequired: isRequired, expected: expected) else { return nil }
        guard case .string(let text) = value else { return refuse(value, name, expected: expected) }
        guard bytes.contains(text.utf8.count) else { return note(name, "length", "`\(name)` must be \(expected).") }
        return text
    }

    /// `true` or `false`.
    mutating func boolean(_ name: String) -> Bool? {
        let expected = "`true` or `false`"
        guard let value = take(name, isRequired: true, expected: expected) else { return nil }
        guard case .boolean(let flag) = value else { return refuse(value, name, expected: expected) }
        return flag
    }

    /// A time that may be left out.
    mutating func time(_ name: String) -> Date? {
        guard let value = take(name, isRequired: false, expected: Self.timeForm) else { return nil }
        guard case .string(let text) = value else { return refuse(value, name, expected: Self.timeForm) }
        return Timestamp.date(text) ?? note(name, "format", "`\(name)` must be \(Self.timeForm).")
    }

    /// Notes every field that nobody has read.
    mutating func refuseUnknown() {
        for name in rest.keys.sorted() {
            violations.append(
                Violation(
                    field: name, rule: "unknownField", message: "`\(name)` is not a field of this request; remove it."))
        }
    }

    /// Whether no field has broken a rule so far.
    var havePassed: Bool { violations.isEmpty }

    /// What to tell the caller once one has.
    var error: ServiceError { .invalid(violations) }

    private mutating func take(_ name: String, isRequired: Bool, expected: String) -> FieldValue? {
        if let value = rest.removeValue(forKey: name) { return value }
        return isRequired ? note(name, "required", "`\(name)` is required: \(expected).") : nil
    }

    private mutating func refuse<Value>(_ value: FieldValue, _ name: String, expected: String) -> Value? {
        note(name, "type", "`\(name)` must be \(expected), not \(value.typeName).")
    }

    private mutating func note<Value>(_ name: String, _ rule: String, _ message: String) -> Value? {
        violations.append(Violation(field: name, rule: rule, message: message))
        return nil
    }
}

extension JSONMembers {
    /// The members as the rules read them.
    var fieldValues: [String: FieldValue] {
        Dictionary(map { ($0.key, $0.value.fieldValue) }) { first, _ in first }
    }
}

extension JSONSlice {
    /// The value as the rules read it.
    var fieldValue: FieldValue {
        switch kind {
        case .null: .null
        case .bool: .boolean(bool ?? false)
        case .number: int64.map(FieldValue.integer) ?? .number(double ?? .infinity)
        case .string: .string(string ?? "")
        case .array: .array(array?.map(\.fieldValue) ?? [])
        case .object: .object
        }
    }
}
