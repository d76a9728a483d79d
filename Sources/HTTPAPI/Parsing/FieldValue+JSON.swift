import Domain
import JSON

extension FieldValue {
    /// The fields of a body, which must be one JSON object.
    ///
    /// - Throws: `malformedJSON` with the place of the fault.
    static func fields(of body: [UInt8]) throws(ServiceError) -> [String: FieldValue] {
        do {
            return fields(of: try JSONScanner.members(of: body))
        } catch {
            throw ServiceError(.malformedJSON, "The body must be one JSON object: \(error).")
        }
    }

    /// How many arrays and objects a value may be in for rules to look at what it holds: each level is read anew.
    private static let maximumDepth = 3

    /// Arrays and objects further in come empty: no rule looks at those.
    private static func fields(of members: JSONMembers, depth: Int = 0) -> [String: FieldValue] {
        Dictionary(members.map { ($0.key, FieldValue($0.value, depth: depth)) }) { first, _ in first }
    }

    private init(_ slice: JSONSlice, depth: Int) {
        self =
            switch slice.kind {
            case .null: .null
            case .bool: .boolean(slice.bool ?? false)
            case .number: slice.int64.map(FieldValue.integer) ?? .number(slice.double ?? .infinity)
            case .string: .string(slice.string ?? "")
            case .array where depth >= Self.maximumDepth: .array([])
            case .array: .array(slice.array?.map { FieldValue($0, depth: depth + 1) } ?? [])
            case .object where depth >= Self.maximumDepth: .object([:])
            case .object: .object(slice.object.map { Self.fields(of: $0, depth: depth + 1) } ?? [:])
            }
    }
}
