import Domain
import JSON

extension FieldValue {
    /// The fields of a body, which must be one JSON object.
    ///
    /// - Throws: `malformedJSON` with the place of the fault.
    static func fields(of body: [UInt8]) throws(ServiceError) -> [String: FieldValue] {
        let members: JSONMembers
        do throws(JSONError) {
            members = try JSONScanner.members(of: body)
        } catch {
            throw ServiceError(.malformedJSON, "The body must be one JSON object: \(error).")
        }
        return try fields(of: members)
    }

    /// How many arrays and objects a value may be in for rules to look at what it holds: each level is read anew.
    private static let maximumDepth = 5

    /// Arrays and objects further in come empty: no rule looks at those.
    ///
    /// The scanner compares names by their bytes, a dictionary as Unicode does (canonical equivalence): of two that are the same
    /// to it, one would be lost unseen.
    private static func fields(of members: JSONMembers, depth: Int = 0) throws(ServiceError) -> [String: FieldValue] {
        var fields: [String: FieldValue] = [:]
        for (name, slice) in members {
            guard fields.updateValue(try FieldValue(slice, depth: depth), forKey: name) == nil else {
                throw ServiceError(
                    .malformedJSON, "The body must be one JSON object: two of its names are the same to Unicode.")
            }
        }
        return fields
    }

    private init(_ slice: JSONSlice, depth: Int) throws(ServiceError) {
        switch slice.kind {
        case .null: self = .null
        case .bool: self = .boolean(slice.bool ?? false)
        case .number: self = slice.int64.map(FieldValue.integer) ?? .number(slice.double ?? .infinity)
        case .string: self = .string(slice.string ?? "")
        case .array where depth >= Self.maximumDepth: self = .array([])
        case .array:
            var elements: [FieldValue] = []
            for element in slice.array ?? [] { elements.append(try FieldValue(element, depth: depth + 1)) }
            self = .array(elements)
        case .object where depth >= Self.maximumDepth: self = .object([:])
        case .object:
            self = .object(
                try slice.object.map { (members) throws(ServiceError) in
                    try Self.fields(of: members, depth: depth + 1)
                } ?? [:])
        }
    }
}
