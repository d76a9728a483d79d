import Domain
import Foundation
import JSON

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
