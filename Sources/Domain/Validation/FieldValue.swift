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
