package import Domain
package import Foundation
package import OpenSSL
import Synchronization

/// Seals and opens the secrets of an installation under its master key.
///
/// It needs no store: whoever opens the store can already open what is sealed in it. What is sealed under a master key that
/// the file still holds behind the present one opens too, until everything is sealed anew.
package final class SecretVault: Sendable {
    /// Where the master keys come from.
    package let source: MasterKeySource
    private let keys: Mutex<MasterKeys>

    /// Takes the master keys of an installation. Blocks.
    ///
    /// - Parameter source: where they come from.
    /// - Returns: the vault, and whether its master key was made just now.
    /// - Throws: `SecretFileError`
    package static func open(_ source: MasterKeySource) throws(SecretFileError) -> (vault: SecretVault, isNew: Bool) {
        let (keys, isNew) = try source.load()
        return (SecretVault(keys, source: source), isNew)
    }

    /// A vault with these keys.
    package init(_ keys: MasterKeys, source: MasterKeySource) {
        self.source = source
        self.keys = Mutex(keys)
    }

    /// The present master key's id, which is nothing of the key.
    package var masterKeyID: String { keys.withLock(\.present.id) }

    /// Seals a secret under the present master key.
    ///
    /// - Parameter identity: what it is; the same is needed to open it.
    /// - Throws: `SealingError`
    package func seal(_ secret: SecureBytes, as identity: SecretIdentity) throws(SealingError) -> SealedSecret {
        try SealedSecret(sealing: secret, as: identity, with: keys.withLock(\.present))
    }

    /// Opens a secret.
    ///
    /// - Throws: `SealingError` naming what cannot be opened, and why.
    package func open(_ sealed: SealedSecret, as identity: SecretIdentity) throws(SealingError) -> SecureBytes {
        try sealed.open(as: identity, with: key(of: sealed))
    }

    /// The same secret under the present master key.
    ///
    /// - Throws: `SealingError`
    package func rewrapped(_ sealed: SealedSecret, as identity: SecretIdentity) throws(SealingError) -> SealedSecret {
        try sealed.rewrapped(as: identity, from: key(of: sealed), to: keys.withLock(\.present))
    }

    /// The key that a secret is sealed under, or the present one, which then tells why it does not open.
    private func key(of sealed: SealedSecret) -> MasterKey {
        keys.withLock { keys in keys.key(sealed.masterKeyIdentifier) ?? keys.present }
    }

    /// Makes another master key the present one; those before it go on opening.
    func adopt(_ next: MasterKeys) { keys.withLock { $0 = $0.followed(by: next) } }

    /// Forgets all master keys but the present one.
    func forgetEarlier() { keys.withLock { $0 = MasterKeys($0.present) } }
}

// Secrets as the store keeps them.
extension SecretVault {
    /// Seals a secret of this installation for the store, under its name.
    ///
    /// - Throws: `SealingError`
    package func seal(
        _ secret: SecureBytes, installationSecret name: String, at now: Date
    ) throws(SealingError) -> SealedSecretRecord {
        record(
            of: try seal(secret, as: .installationSecret(name)), kind: .installation, name: name, createdAt: now)
    }

    /// Opens a secret of this installation that the store has kept.
    ///
    /// - Throws: `SealingError`
    package func open(installationSecret record: SealedSecretRecord) throws(SealingError) -> SecureBytes {
        try open(SealedSecret(bytes: record.sealed), as: .installationSecret(record.name))
    }

    func record(
        of sealed: SealedSecret, kind: SealedSecretRecord.Kind, name: String, createdAt: Date
    ) -> SealedSecretRecord {
        SealedSecretRecord(
            kind: kind, name: name, sealed: sealed.bytes, masterKeyID: sealed.masterKeyID, createdAt: createdAt)
    }
}
