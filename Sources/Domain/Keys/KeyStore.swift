package import Foundation

/// What is known of an imported key, apart from its sealed bytes.
package struct ImportedKey: Sendable, Equatable {
    package let keyID: String
    package let issuerID: String
    /// The apps it may sign for, by slug, in ascending order.
    package let apps: [String]
    /// SHA-256 of the public half.
    package let fingerprint: [UInt8]
    package let importedAt: Date
    /// Which operator, as the audit names them.
    package let importedBy: String

    package init(
        keyID: String, issuerID: String, apps: [String], fingerprint: [UInt8], importedAt: Date, importedBy: String
    ) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.apps = apps
        self.fingerprint = fingerprint
        self.importedAt = importedAt
        self.importedBy = importedBy
    }
}

/// Keeps imported keys, what has been decided about all keys, and whatever is sealed; every method is one atomic operation.
///
/// Every method throws `storeUnavailable`.
package protocol KeyStore: Sendable {
    /// The imported keys, the oldest first.
    func importedKeys() async throws(ServiceError) -> [ImportedKey]

    /// Keeps an imported key with its sealed bytes.
    ///
    /// - Returns: false when there is an imported key of that id already; nothing is changed then.
    func addImportedKey(_ key: ImportedKey, sealed: SealedSecretRecord) async throws(ServiceError) -> Bool

    /// Removes an imported key, its sealed bytes, and what was decided about it; the bytes are overwritten.
    ///
    /// - Returns: false when there is none of that id.
    func deleteImportedKey(id: String) async throws(ServiceError) -> Bool

    /// What has been decided about keys.
    func keyStates() async throws(ServiceError) -> KeyStates

    /// Keeps what has been decided, in place of all that was.
    func replaceKeyStates(_ states: KeyStates) async throws(ServiceError)

    /// Whether other processes may decide about keys at the same time.
    var isShared: Bool { get }

    /// Keeps what has been decided here together with what others have decided meanwhile, in one atomic operation.
    ///
    /// `base`: what was kept when this began to be changed.
    ///
    /// - Returns: what is kept now.
    func mergeKeyStates(_ states: KeyStates, since base: KeyStates) async throws(ServiceError) -> KeyStates

    /// The ids of the instances on the store that have not reported a master key; empty where the store is not shared.
    func instances(lacking masterKeyID: String, at now: Date) async throws(ServiceError) -> [String]

    // MARK: Sealed secrets

    /// All sealed secrets, by kind and name.
    func sealedSecrets() async throws(ServiceError) -> [SealedSecretRecord]

    /// Seals every secret anew, all of them or none.
    ///
    /// `rewrap`: the same secret under another master key; nil leaves it as it is. It may be asked twice of one secret, must be
    /// quick, and must not call the store.
    ///
    /// - Returns: how many were changed.
    func rewrapSealedSecrets(
        _ rewrap: @escaping @Sendable (SealedSecretRecord) -> SealedSecretRecord?
    ) async throws(ServiceError) -> Int

    /// Overwrites what was removed or replaced before this was called wherever the store's files still hold it.
    ///
    /// It fails while another program reads the files; it is then overwritten when the store closes.
    func overwriteRemoved() async throws(ServiceError)
}

extension KeyStore {
    // Where one process decides.
    package var isShared: Bool { false }

    package func instances(lacking masterKeyID: String, at now: Date) async throws(ServiceError) -> [String] { [] }

    package func mergeKeyStates(
        _ states: KeyStates, since base: KeyStates
    ) async throws(ServiceError) -> KeyStates {
        try await replaceKeyStates(states)
        return states
    }
}
