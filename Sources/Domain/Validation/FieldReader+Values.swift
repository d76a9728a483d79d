/// The value of one field of a request body, before any rule has looked at it.
package enum FieldValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// A number that is not an integer within 64 bits: one with a fraction, or one that is too large.
    case number(Double)
    case string(String)
    case array([FieldValue])
    case object([String: FieldValue])

    /// What a caller would call it.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .number: isBeyondIntegers ? "a number" : "a number with a fraction"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Whether it is a number that is too large for any integer of ours, whose fraction nobody need ask for.
    var isBeyondIntegers: Bool {
        if case .number(let value) = self { value.magnitude >= 0x1p63 } else { false }
    }

    /// Whether it is made of other values.
    var isComposite: Bool {
        switch self {
        case .array, .object: true
        case .null, .boolean, .integer, .number, .string: false
        }
    }
}

// MARK: Reading one as what it should be

extension FieldReader {
    /// A value of any kind that a rule makes something of.
    ///
    /// - Parameters:
    ///   - name: the value's name.
    ///   - position: where it stands.
    ///   - isRequired: whether it must be given.
    ///   - expected: what it must be, for the caller.
    ///   - rule: the rule that a text breaks which cannot be read; a value of another type breaks `type`.
    ///   - error: Apple's error for one that breaks a rule.
    ///   - read: makes something of the text; nil when it breaks the rule.
    /// - Returns: what was made of it; nil when it is missing or breaks a rule.
    package mutating func value<Value>(
        _ name: String, in position: Position = .body, isRequired: Bool = true,
        expected: @autoclosure () -> String, rule: String = "format", _ error: AppleErrorName? = nil,
        _ read: (String) -> Value?
    ) -> Value? {
        guard let value = take(name, position, isRequired: isRequired, expected, error) else { return nil }
        guard case .string(let text) = value else { return refuse(value, name, expected(), error) }
        if let value = read(text) { return value }
        return refuse(name, rule, expected(), error)
    }

    /// A text as it is; without a rule of its own it may be empty.
    package mutating func text(
        _ name: String, in position: Position = .body, isRequired: Bool = false
    ) -> String? {
        value(name, in: position, isRequired: isRequired, expected: "a string") { $0 }
    }

    /// A text within these bounds, in bytes of UTF-8.
    package mutating func text(
        _ name: String, in position: Position = .body, isRequired: Bool = true, bytes: ClosedRange<Int>
    ) -> String? {
        value(
            name, in: position, isRequired: isRequired,
            expected: "a text of \(bytes.lowerBound) to \(bytes.upperBound) bytes", rule: "length"
        ) { bytes.contains($0.utf8.count) ? $0 : nil }
    }

    /// A text that satisfies a rule.
    package mutating func string(
        _ name: String, in position: Position = .body, isRequired: Bool = true, expected: @autoclosure () -> String,
        rule: String = "format", _ error: AppleErrorName? = nil, where isValid: (String) -> Bool
    ) -> String? {
        value(name, in: position, isRequired: isRequired, expected: expected(), rule: rule, error) {
            isValid($0) ? $0 : nil
        }
    }

    /// A text out of a fixed set.
    package mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _ type: Choice.Type, in position: Position = .body, isRequired: Bool = true,
        _ error: AppleErrorName? = nil
    ) -> Choice? where Choice.RawValue == String {
        value(
            name, in: position, isRequired: isRequired, expected: Self.oneOf(type), rule: "enum", error,
            Choice.init(rawValue:))
    }

    /// The values of a query parameter that may be repeated, out of a fixed set; none means all.
    package mutating func choices<Choice: RawRepresentable & CaseIterable & Hashable>(
        _ name: String, _ type: Choice.Type
    ) -> Set<Choice> where Choice.RawValue == String {
        let given = values(name)
        let choices = given.compactMap(Choice.init(rawValue:))
        if choices.count < given.count {
            note(name, "enum", "`\(name)` must be \(Self.oneOf(type)); it may be given several times.")
        }
        return Set(choices)
    }

    /// An identifier of Apple's.
    package mutating func identifier(
        _ name: String, _ kind: AppleIdentifier, in position: Position, isRequired: Bool = true
    ) -> String? {
        let text: String? = value(name, in: position, isRequired: isRequired, expected: kind.rule) { $0 }
        guard let text else { return nil }
        return check { () throws(ServiceError) in
            try kind.check(text, field: name)
            return text
        }
    }

    /// `true` or `false`.
    package mutating func boolean(
        _ name: String, in position: Position = .body, isRequired: Bool = true, _ error: AppleErrorName? = nil
    ) -> Bool? {
        let expected = "`true` or `false`"
        guard let value = take(name, position, isRequired: isRequired, { expected }, error) else { return nil }
        if case .boolean(let flag) = value { return flag }
        guard spells(position), case .string(let text) = value else { return refuse(value, name, expected, error) }
        return Bool(text) ?? refuse(name, "type", expected, error)
    }

    /// The customer's consent: anything but `true` is refused.
    mutating func consent(_ name: String) {
        let error = AppleErrorName("InvalidCustomerConsentedError", 4_000_035)
        let given = take(name, .body, isRequired: false, { "" }, error)
        guard given != .boolean(true) else { return }
        note(
            name, given == nil ? "required" : "consent",
            "`\(qualified(name))` must be `true`: without the customer's consent nothing is sent to Apple.", error)
    }

    /// An integer within a range.
    package mutating func integer<Number: FixedWidthInteger>(
        _ name: String, in position: Position = .body, from range: ClosedRange<Number>, isRequired: Bool = true,
        expected: String? = nil, _ error: AppleErrorName? = nil
    ) -> Number? {
        let expected = { expected ?? "an integer from \(range.lowerBound) to \(range.upperBound)" }
        guard let value = take(name, position, isRequired: isRequired, expected, error) else { return nil }
        let number: Number?
        switch value {
        case .integer(let value): number = Number(exactly: value)
        case .string(let text) where spells(position): number = Number(text)
        case .number where value.isBeyondIntegers: number = nil
        default: return refuse(value, name, expected(), error)
        }
        guard let number, range.contains(number) else { return refuse(name, "range", expected(), error) }
        return number
    }

    /// A required time in UNIX milliseconds.
    mutating func milliseconds(_ name: String, _ error: AppleErrorName) -> Int64? {
        integer(name, from: 0...Int64.max, expected: "a UNIX time in milliseconds", error)
    }

    /// An array of whatever it holds; `takesNull`: whether null means that there is none.
    package mutating func array(
        _ name: String, isRequired: Bool = true, takesNull: Bool = false, expected: String,
        _ error: AppleErrorName? = nil
    ) -> [FieldValue]? {
        guard let value = take(name, .body, isRequired: isRequired, { expected }, error) else { return nil }
        if takesNull, value == .null { return nil }
        guard case .array(let elements) = value else { return refuse(value, name, expected, error) }
        return elements
    }

    /// An array of strings that each satisfy a rule; every one that does not is noted by its position.
    mutating func strings(
        _ name: String, atMost maximumCount: Int, isRequired: Bool = true, expected: String, element: String,
        _ error: AppleErrorName?, where isValid: (String) -> Bool
    ) -> [String]? {
        guard let elements = array(name, isRequired: isRequired, expected: expected, error) else { return nil }
        guard elements.count <= maximumCount else {
            note(
                name, "count", "`\(qualified(name))` holds \(elements.count) elements; at most \(maximumCount).", error)
            return nil
        }
        var texts: [String] = []
        for (index, value) in elements.enumerated() {
            if case .string(let text) = value, isValid(text) {
                texts.append(text)
            } else {
                note("\(name)[\(index)]", "format", "`\(qualified(name))[\(index)]` must be \(element).", error)
            }
        }
        return texts.count == elements.count ? texts : nil
    }

    /// What an object of the body holds, read by a reader of its own; its violations name the object too.
    package mutating func object<Value>(
        _ name: String, isRequired: Bool = true, expected: String, _ read: (inout FieldReader) -> Value?
    ) -> Value? {
        guard let value = take(name, .body, isRequired: isRequired, { expected }, nil) else { return nil }
        return members(of: value, name, expected, read)
    }

    /// What an object of the body holds, where only its rules matter.
    package mutating func object(
        _ name: String, isRequired: Bool = true, expected: String, _ check: (inout FieldReader) -> Void
    ) {
        _ = object(name, isRequired: isRequired, expected: expected) { fields -> Void? in check(&fields) }
    }

    /// An array of at least one object, where only their rules matter; violations name an object by its position.
    package mutating func objects(_ name: String, isRequired: Bool = true, _ check: (inout FieldReader) -> Void) {
        let expected = "an array of at least one object"
        guard let elements = array(name, isRequired: isRequired, expected: expected) else { return }
        if elements.isEmpty {
            note(name, "count", "`\(qualified(name))` must be \(expected); leave it out if there is none.")
        }
        for (index, element) in elements.enumerated() {
            _ = members(of: element, "\(name)[\(index)]", "an object") { fields -> Void? in check(&fields) }
        }
    }

    private mutating func members<Value>(
        of value: FieldValue, _ name: String, _ expected: String, _ read: (inout FieldReader) -> Value?
    ) -> Value? {
        guard case .object(let members) = value else { return refuse(value, name, expected, nil) }
        var fields = reader(of: members, prefix: qualified(name) + ".")
        let result = read(&fields)
        if !fields.isValid { _ = check { () throws(ServiceError) in throw fields.error } }
        return result
    }

    /// What an object within an array of the body holds, read by a reader of its own; its violations name its position.
    mutating func element<Value>(
        _ element: FieldValue, of name: String, at index: Int, expected: String,
        _ read: (inout FieldReader) -> Value?
    ) -> Value? {
        let name = "\(name)[\(index)]"
        guard case .object(let members) = element else { return refuse(element, name, expected, nil) }
        var fields = reader(of: members, prefix: qualified(name) + ".")
        let result = read(&fields)
        if !fields.isValid { _ = check { () throws(ServiceError) in throw fields.error } }
        return result
    }

    private static func oneOf<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) -> String
    where Choice.RawValue == String {
        "one of " + Choice.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
    }

    /// Notes a value of a type that it must not have.
    private mutating func refuse<Value>(
        _ value: FieldValue, _ name: String, _ expected: String, _ error: AppleErrorName?
    ) -> Value? {
        note(name, "type", "`\(qualified(name))` must be \(expected), not \(value.typeName).", error)
        return nil
    }

    /// Notes a value that is not what it must be.
    private mutating func refuse<Value>(
        _ name: String, _ rule: String, _ expected: String, _ error: AppleErrorName?
    ) -> Value? {
        note(name, rule, "`\(qualified(name))` must be \(expected).", error)
        return nil
    }
}
