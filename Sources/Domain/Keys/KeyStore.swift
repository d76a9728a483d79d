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

/// Keeps imported keys and what has been decided about all keys; every method is one atomic operation.
///
/// Every method throws `storeUnavailable`.
package protocol KeyStore: SealedSecretStore {
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
}
