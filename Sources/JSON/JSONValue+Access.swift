extension JSONValue {
    /// The member of an object, or nil if this is another kind or there is none.
    package subscript(_ key: String) -> JSONValue? { object?[key] }

    /// The element of an array, or nil if this is another kind or the index is out of range.
    package subscript(_ index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    package var kind: JSONKind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    package var isNull: Bool { self == .null }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number if it is mathematically an integer in range.
    package var int64: Int64? { number?.int64 }

    /// The nearest double, or nil if the number is beyond the range of doubles.
    package var double: Double? { number?.double }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
}
