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

    /// Takes the master keys of an installation.
    ///
    /// It blocks.
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

    /// Whether what is sealed under a master key of this id opens.
    package func holds(masterKeyID id: String) -> Bool { keys.withLock { keys in keys.all.contains { $0.id == id } } }

    /// The ids of all master keys, the present one first.
    package var masterKeyIDs: [String] { keys.withLock { $0.all.map(\.id) } }

    /// Makes a master key the present one that the installation holds already; nothing changes where it does not hold it.
    ///
    /// All instances on one store seal under the same key, whatever the order in their files is.
    package func seal(under masterKeyID: String) {
        keys.withLock { keys in
            guard keys.present.id != masterKeyID, let key = keys.all.first(where: { $0.id == masterKeyID }) else {
                return
            }
            keys = MasterKeys(key, earlier: keys.all.filter { $0.id != masterKeyID })
        }
    }

    /// Seals a secret under the present master key.
    ///
    /// `identity`: what it is; the same is needed to open it.
    ///
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

    // MARK: Another master key

    /// Whether there are keys that only open.
    var hasEarlierKeys: Bool { keys.withLock { !$0.earlier.isEmpty } }

    /// The operator's file that may still hold keys which nothing needs any more.
    var fileToClean: String? {
        switch source {
        case .made: nil
        case .file(let path, _), .credential(let path): path
        }
    }

    /// The id of the master key that ``takeNext()`` would make the present one; nil where that one does not exist yet.
    ///
    /// It blocks.
    ///
    /// - Throws: `SecretFileError`
    func nextID() throws(SecretFileError) -> String? {
        if case .made = source { return nil }
        return try source.load().keys.present.id
    }

    /// Makes the next master key the present one; those before it go on opening.
    ///
    /// It blocks.
    ///
    /// Where the service keeps the file itself, it draws one, unless an earlier change has not come to its end. Else it is the
    /// first one in the operator's file.
    ///
    /// - Throws: `SecretFileError`; nothing has changed then.
    func takeNext() throws(SecretFileError) {
        let before = keys.withLock(\.self)
        switch source {
        case .made(let path):
            guard before.earlier.isEmpty else { return }
            let next = MasterKeys(try MasterKeyFile.draw(for: path), earlier: [before.present])
            try MasterKeyFile.replace(path, with: next)
            keys.withLock { $0 = next }
        case .file(let path, _), .credential(let path):
            let next = try source.load().keys
            guard next.present.id != before.present.id || hasEarlierKeys else {
                throw SecretFileError(
                    path: path, problem: "its first key is the present one; put the new key in a line before it")
            }
            keys.withLock { $0 = before.followed(by: next) }
        }
    }

    /// Forgets the master keys before the present one, and takes them out of the service's own file.
    ///
    /// It blocks.
    ///
    /// - Parameter needed: the ids of keys under which something is still sealed.
    /// - Throws: `SecretFileError` when the file could not be changed; the keys are kept then.
    func forgetEarlier(except needed: Set<String>) throws(SecretFileError) {
        let before = keys.withLock(\.self)
        let rest = MasterKeys(before.present, earlier: before.earlier.filter { needed.contains($0.id) })
        guard rest.earlier.count < before.earlier.count else { return }
        if case .made(let path) = source { try MasterKeyFile.replace(path, with: rest) }
        keys.withLock { $0 = rest }
    }
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
        try open(SealedSecret(bytes: record.sealed), as: .installationSecret(record.originalName))
    }

    /// Whether a secret opens that the store has.
    ///
    /// `key`: the imported key that the secret is of; nil for another kind, or where there is none.
    package func opens(_ record: SealedSecretRecord, of key: ImportedKey?) -> Bool {
        guard let identity = SecretIdentity(of: record, key) else { return false }
        return (try? open(SealedSecret(bytes: record.sealed), as: identity)) != nil
    }

    func record(
        of sealed: SealedSecret, kind: SealedSecretRecord.Kind, name: String, createdAt: Date
    ) -> SealedSecretRecord {
        SealedSecretRecord(
            kind: kind, name: name, sealed: sealed.bytes, masterKeyID: sealed.masterKeyID, createdAt: createdAt)
    }
}
