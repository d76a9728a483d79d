import Domain
import JSON

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
