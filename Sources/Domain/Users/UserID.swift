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
}
