import Domain
import JSON

extension FieldValue {
    /// The longest name of a member, in bytes.
    static let maximumNameBytes = 128
    /// The most members of one object.
    static let maximumMembers = 1000
    /// The most values of a body, those within others included.
    static let maximumValues = 100_000
    /// How many arrays and objects a value may be in for rules to look at what it holds: each level is read anew.
    private static let maximumDepth = 5

    /// The fields of a body, which must be one JSON object.
    ///
    /// - Throws: `malformedJSON` with the place of the fault; `invalidRequest` for too many values, for a name that is too long, and
    ///   for text that is not stream-safe.
    static func fields(of body: [UInt8]) throws(ServiceError) -> [String: FieldValue] {
        let members: JSONMembers
        do throws(JSONError) {
            members = try JSONScanner.members(of: body)
        } catch {
            throw ServiceError(.malformedJSON, "The body must be one JSON object: \(error).")
        }
        var valuesLeft = maximumValues
        return try fields(of: members, in: "", 0, &valuesLeft)
    }

    /// Arrays and objects further in are left empty: no rule reads them.
    ///
    /// The scanner compares names by their bytes, a dictionary as Unicode does (canonical equivalence): of two that are equal
    /// to it, one would be lost.
    private static func fields(
        of members: JSONMembers, in path: String, _ depth: Int, _ valuesLeft: inout Int
    ) throws(ServiceError) -> [String: FieldValue] {
        guard members.count <= maximumMembers else {
            throw broken(
                path.isEmpty ? "body" : String(path.dropLast()), "count", "has more than \(maximumMembers) members")
        }
        var fields: [String: FieldValue] = [:]
        for (untrusted, slice) in members {
            let field = path + untrusted.shortened
            guard untrusted.utf8.count <= maximumNameBytes, let name = untrusted.checked else {
                throw broken(
                    field, "name",
                    "must have a name of at most \(maximumNameBytes) bytes, and at most "
                        + "\(UntrustedText.maximumNonStarters) combining characters in a row")
            }
            guard fields.updateValue(try FieldValue(slice, of: field, depth, &valuesLeft), forKey: name) == nil else {
                throw ServiceError(
                    .malformedJSON, "The body must be one JSON object: two of its names are the same to Unicode.")
            }
        }
        return fields
    }

    private init(_ slice: JSONSlice, of field: String, _ depth: Int, _ valuesLeft: inout Int) throws(ServiceError) {
        valuesLeft -= 1
        guard valuesLeft >= 0 else {
            throw Self.broken("body", "count", "has more than \(Self.maximumValues) values; send less in one request")
        }
        switch slice.kind {
        case .null: self = .null
        case .bool: self = .boolean(slice.bool ?? false)
        case .number: self = slice.int64.map(FieldValue.integer) ?? .number(slice.double ?? .infinity)
        case .string:
            guard let text = (slice.string ?? "").checked else {
                throw Self.broken(field, "characters", "cannot be used: \(UntrustedText.longRunFault)")
            }
            self = .string(text)
        case .array where depth >= Self.maximumDepth: self = .array([])
        case .array:
            var elements: [FieldValue] = []
            for element in slice.array ?? [] {
                elements.append(try FieldValue(element, of: field, depth + 1, &valuesLeft))
            }
            self = .array(elements)
        case .object where depth >= Self.maximumDepth: self = .object([:])
        case .object:
            self = .object(
                try slice.object.map { (members) throws(ServiceError) in
                    try Self.fields(of: members, in: field + ".", depth + 1, &valuesLeft)
                } ?? [:])
        }
    }

    private static func broken(_ field: String, _ rule: String, _ problem: String) -> ServiceError {
        .invalid([Violation(field: field, rule: rule, message: "`\(field)` \(problem).")])
    }
}
