package import Foundation

/// A secret as the store keeps it: sealed under the installation's master key, so that neither the database nor a backup of
/// it gives the secret away.
package struct SealedSecretRecord: Sendable, Equatable {
    /// What kind of secret it is; with ``name``, which one.
    package enum Kind: String, Sendable, CaseIterable {
        /// An In-App Purchase key that an operator has imported, by its key id.
        case signingKey
        /// A secret that this installation has made for itself, by what it is for.
        case installation
        /// What signs for a callback, by the callback's id and the secret's number.
        case callback
    }

    package let kind: Kind
    package let name: String
    /// What is kept; it opens only with the master key, and only as what it was sealed as.
    package let sealed: [UInt8]
    /// Which master key it is sealed under: its id, nothing of the key.
    package let masterKeyID: String
    package let createdAt: Date

    package init(kind: Kind, name: String, sealed: [UInt8], masterKeyID: String, createdAt: Date) {
        self.kind = kind
        self.name = name
        self.sealed = sealed
        self.masterKeyID = masterKeyID
        self.createdAt = createdAt
    }

    /// What separates the name of a secret that was set aside from the id of its master key.
    package static let asideSeparator: Character = "@"

    /// The name that the secret was sealed under; a secret that was set aside has another ``name``.
    package var originalName: String { String(name.prefix { $0 != Self.asideSeparator }) }

    /// The same secret, sealed anew.
    package func replacing(sealed: [UInt8], masterKeyID: String) -> SealedSecretRecord {
        SealedSecretRecord(kind: kind, name: name, sealed: sealed, masterKeyID: masterKeyID, createdAt: createdAt)
    }
}
