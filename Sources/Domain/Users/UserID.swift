/// A caller's own user id: an opaque string, unique within an app.
package struct UserID: Sendable, Hashable, CustomStringConvertible {
    /// The longest id, in bytes of UTF-8.
    package static let maximumBytes = 128

    package let value: String

    /// Takes the id over.
    ///
    /// - Throws: `invalidRequest` when it is empty or longer than `maximumBytes`.
    package init(_ value: String) throws(ServiceError) {
        guard (1...Self.maximumBytes).contains(value.utf8.count) else {
            throw .invalid([
                Violation(
                    field: "user", rule: "length",
                    message: "A user id has 1 to \(Self.maximumBytes) bytes of UTF-8; this one has \(value.utf8.count)."
                )
            ])
        }
        self.value = value
    }

    // Byte by byte: Swift would take two spellings of one accented letter for the same id, a caller's database may not.
    package static func == (left: UserID, right: UserID) -> Bool { left.value.utf8.elementsEqual(right.value.utf8) }

    package func hash(into hasher: inout Hasher) {
        for byte in value.utf8 { hasher.combine(byte) }
    }

    package var description: String { value }

    /// What is the same for all spellings of one user: UUIDs count in lower case, other ids byte for byte.
    package var folded: String { isUUID ? value.lowercased() : value }

    /// Whether it is a UUID, as an `appAccountToken` is.
    package var isUUID: Bool { ConsumptionRules.isUUID(value) }

    /// Whether both ids denote one user: UUIDs that differ only in case do (RFC 9562 section 4).
    package func isSameUser(as other: UserID) -> Bool { self == other || folded.utf8.elementsEqual(other.folded.utf8) }
}
