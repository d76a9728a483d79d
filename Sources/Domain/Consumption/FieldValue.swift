/// The value of one field of a request body, before any rule has looked at it.
package enum FieldValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// A number that is not an integer within 64 bits.
    case number(Double)
    case string(String)
    /// An array or object.
    case composite

    /// What a caller would call it.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .string: "a string"
        case .composite: "an array or object"
        }
    }
}
