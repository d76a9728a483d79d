/// Reads the fields of a request body one by one and notes every rule that one of them breaks.
struct FieldReader {
    private var fields: [String: FieldValue]
    private let prefix: String
    private(set) var violations: [Violation] = []

    /// `prefix`: what stands before a field's name in a violation, such as `appleV1.`.
    init(_ fields: [String: FieldValue], prefix: String = "") {
        self.fields = fields
        self.prefix = prefix
    }

    /// Takes the named fields out unchecked.
    mutating func takeAll(_ names: Set<String>) -> [String: FieldValue] {
        let taken = fields.filter { names.contains($0.key) }
        for name in taken.keys { fields[name] = nil }
        return taken
    }

    /// A required boolean.
    mutating func boolean(_ name: String, _ error: AppleErrorName) -> Bool? {
        switch fields.removeValue(forKey: name) {
        case .boolean(let value): return value
        case let other: return refuse(other, name, expected: "`true` or `false`", error)
        }
    }

    /// The customer's consent: anything but `true` is refused.
    mutating func consent(_ name: String) {
        switch fields.removeValue(forKey: name) {
        case .boolean(true): break
        case let other:
            note(
                name, other == nil ? "required" : "consent",
                "`\(prefix)\(name)` must be `true`: without the customer's consent nothing is sent to Apple.",
                AppleErrorName("InvalidCustomerConsentedError", 4_000_035))
        }
    }

    /// A string out of a fixed set.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _ type: Choice.Type, isRequired: Bool, _ error: AppleErrorName
    ) -> Choice? where Choice.RawValue == String {
        let expected = "one of " + Choice.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        switch fields.removeValue(forKey: name) {
        case nil where !isRequired: return nil
        case .string(let text):
            guard let choice = Choice(rawValue: text) else {
                note(name, "enum", "`\(prefix)\(name)` must be \(expected).", error)
                return nil
            }
            return choice
        case let other: return refuse(other, name, expected: expected, error)
        }
    }

    /// An integer within a range.
    mutating func integer(
        _ name: String, in range: ClosedRange<Int64>, isRequired: Bool, _ error: AppleErrorName
    ) -> Int32? {
        let expected = "an integer from \(range.lowerBound) to \(range.upperBound)"
        switch fields.removeValue(forKey: name) {
        case nil where !isRequired: return nil
        case .integer(let value):
            guard range.contains(value) else {
                note(name, "range", "`\(prefix)\(name)` must be \(expected).", error)
                return nil
            }
            return Int32(value)
        case let other: return refuse(other, name, expected: expected, error)
        }
    }

    /// A required string that satisfies a rule.
    mutating func string(
        _ name: String, expected: String, _ error: AppleErrorName, where isValid: (String) -> Bool
    ) -> String? {
        switch fields.removeValue(forKey: name) {
        case .string(let text):
            guard isValid(text) else {
                note(name, "format", "`\(prefix)\(name)` must be \(expected).", error)
                return nil
            }
            return text
        case let other: return refuse(other, name, expected: expected, error)
        }
    }

    /// Notes every field that nobody has read.
    mutating func refuseUnknownFields() {
        for name in fields.keys.sorted() {
            note(
                name, "unknownField",
                "`\(prefix)\(name)` is not a field of this request; remove it, or let it through with the app's `additionalConsumptionFields`.",
                nil)
        }
        fields = [:]
    }

    /// Notes a broken rule.
    mutating func note(_ name: String, _ rule: String, _ message: String, _ error: AppleErrorName?) {
        violations.append(Violation(field: prefix + name, rule: rule, message: message, appleError: error))
    }

    private mutating func refuse<Value>(
        _ value: FieldValue?, _ name: String, expected: String, _ error: AppleErrorName
    ) -> Value? {
        if let value {
            note(name, "type", "`\(prefix)\(name)` must be \(expected), not \(value.typeName).", error)
        } else {
            note(name, "required", "`\(prefix)\(name)` is required: \(expected).", error)
        }
        return nil
    }
}
