/// Reads the fields of a request body one by one and notes every rule that one of them breaks.
struct FieldReader {
    private var fields: [String: FieldValue]
    private let prefix: String
    private let unknownFieldAdvice: String
    private(set) var violations: [Violation] = []

    /// - Parameters:
    ///   - fields: the body's fields by name.
    ///   - prefix: what stands before a field's name in a violation, such as `appleV1.`.
    ///   - unknownFieldAdvice: what to do about a field that the request does not have.
    init(_ fields: [String: FieldValue], prefix: String = "", unknownFieldAdvice: String = "remove it") {
        self.fields = fields
        self.prefix = prefix
        self.unknownFieldAdvice = unknownFieldAdvice
    }

    /// Takes the named fields out unchecked.
    mutating func takeAll(_ names: Set<String>) -> [String: FieldValue] {
        let taken = fields.filter { names.contains($0.key) }
        for name in taken.keys { fields[name] = nil }
        return taken
    }

    /// A boolean.
    mutating func boolean(_ name: String, isRequired: Bool = true, _ error: AppleErrorName) -> Bool? {
        switch fields.removeValue(forKey: name) {
        case nil where !isRequired: return nil
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
        integer(
            name, expected: "an integer from \(range.lowerBound) to \(range.upperBound)", in: range,
            isRequired: isRequired, error
        ).flatMap(Int32.init(exactly:))
    }

    /// A required time in UNIX milliseconds.
    mutating func milliseconds(_ name: String, _ error: AppleErrorName) -> Int64? {
        integer(name, expected: "a UNIX time in milliseconds", in: 0...Int64.max, isRequired: true, error)
    }

    /// A string that satisfies a rule.
    mutating func string(
        _ name: String, isRequired: Bool = true, expected: String, _ error: AppleErrorName?,
        where isValid: (String) -> Bool
    ) -> String? {
        switch fields.removeValue(forKey: name) {
        case nil where !isRequired: return nil
        case .string(let text):
            guard isValid(text) else {
                note(name, "format", "`\(prefix)\(name)` must be \(expected).", error)
                return nil
            }
            return text
        case let other: return refuse(other, name, expected: expected, error)
        }
    }

    /// An array of strings that each satisfy a rule; every one that does not is noted by its position.
    mutating func strings(
        _ name: String, atMost maximumCount: Int, isRequired: Bool = true, expected: String, element: String,
        _ error: AppleErrorName?, where isValid: (String) -> Bool
    ) -> [String]? {
        switch fields.removeValue(forKey: name) {
        case nil where !isRequired: return nil
        case .array(let elements):
            guard elements.count <= maximumCount else {
                note(
                    name, "count", "`\(prefix)\(name)` holds \(elements.count) elements; at most \(maximumCount).",
                    error)
                return nil
            }
            var texts: [String] = []
            for (index, value) in elements.enumerated() {
                guard case .string(let text) = value, isValid(text) else {
                    note("\(name)[\(index)]", "format", "`\(prefix)\(name)[\(index)]` must be \(element).", error)
                    continue
                }
                texts.append(text)
            }
            return texts.count == elements.count ? texts : nil
        case let other: return refuse(other, name, expected: expected, error)
        }
    }

    /// Notes every field that nobody has read.
    mutating func refuseUnknownFields() {
        for name in fields.keys.sorted() {
            note(
                name, "unknownField",
                "`\(prefix)\(name)` is not a field of this request; \(unknownFieldAdvice).", nil)
        }
        fields = [:]
    }

    /// Notes a broken rule.
    mutating func note(_ name: String, _ rule: String, _ message: String, _ error: AppleErrorName?) {
        violations.append(Violation(field: prefix + name, rule: rule, message: message, appleError: error))
    }

    private mutating func integer(
        _ name: String, expected: String, in range: ClosedRange<Int64>, isRequired: Bool, _ error: AppleErrorName
    ) -> Int64? {
        switch fields.removeValue(forKey: name) {
        case nil where !isRequired: return nil
        case .integer(let value):
            guard range.contains(value) else {
                note(name, "range", "`\(prefix)\(name)` must be \(expected).", error)
                return nil
            }
            return value
        case let other: return refuse(other, name, expected: expected, error)
        }
    }

    private mutating func refuse<Value>(
        _ value: FieldValue?, _ name: String, expected: String, _ error: AppleErrorName?
    ) -> Value? {
        if let value {
            note(name, "type", "`\(prefix)\(name)` must be \(expected), not \(value.typeName).", error)
        } else {
            note(name, "required", "`\(prefix)\(name)` is required: \(expected).", error)
        }
        return nil
    }
}

/// The value of one field of a request body, before any rule has looked at it.
package enum FieldValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// A number that is not an integer within 64 bits.
    case number(Double)
    case string(String)
    case array([FieldValue])
    /// An object; no rule of ours looks into one that stands where a single value or a list is expected.
    case object

    /// What a caller would call it.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Whether it is made of other values.
    var isComposite: Bool {
        switch self {
        case .array, .object: true
        case .null, .boolean, .integer, .number, .string: false
        }
    }
}

/// Runs the checks of a request one after the other and keeps what each finds, so that the caller learns of every broken
/// rule at once.
package struct RequestChecks: Sendable {
    private var violations: [Violation] = []
    private var other: ServiceError?

    package init() {}

    /// Whether no check has failed so far.
    package var havePassed: Bool { violations.isEmpty && other == nil }

    /// Runs one check.
    ///
    /// - Returns: what the check returns; nil when it failed.
    package mutating func run<Value>(_ check: () throws(ServiceError) -> Value) -> Value? {
        do throws(ServiceError) {
            return try check()
        } catch {
            if error.violations.isEmpty { other = other ?? error } else { violations += error.violations }
            return nil
        }
    }

    /// Runs a check of which only the failure matters.
    package mutating func require(_ check: () throws(ServiceError) -> Void) {
        _ = run(check)
    }

    /// Notes a rule that the request breaks.
    package mutating func note(_ violation: Violation) {
        violations.append(violation)
    }

    /// What to tell the caller once a check has failed.
    package var error: ServiceError {
        guard let other else { return .invalid(violations) }
        guard !violations.isEmpty else { return other }
        let field = other.reason == .environmentNotAllowed ? "environment" : "request"
        return .invalid(violations + [Violation(field: field, rule: other.reason.rawValue, message: other.message)])
    }
}
