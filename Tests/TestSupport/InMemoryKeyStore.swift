package import Domain

/// Imported keys and what was decided about keys, in memory; the contract suite holds it to the same rules as the real store.
package actor InMemoryKeyStore: KeyStore {
    private var secrets: [String: SealedSecretRecord] = [:]
    private var imported: [ImportedKey] = []
    private var states = KeyStates()
    private var isFailing = false
    private var isOverwritingFailing = false
    /// How often what was decided was written.
    package private(set) var writes = 0
    /// Whoever has written what was decided waits in front of it.
    package nonisolated let written = Gate()
    /// How often what was removed was to be overwritten.
    package private(set) var overwritten = 0

    /// Whether several processes decide.
    package nonisolated let isShared: Bool

    package init(isShared: Bool = false) { self.isShared = isShared }

    /// Whether everything fails.
    package func fail(_ isFailing: Bool = true) { self.isFailing = isFailing }

    /// Whether nothing that was removed can be overwritten.
    package func failOverwriting() { isOverwritingFailing = true }

    /// Puts a secret in the place of what is kept, as somebody could who writes the database.
    package func forge(_ record: SealedSecretRecord) { secrets[Self.name(record)] = record }

    private static func name(_ record: SealedSecretRecord) -> String { "\(record.kind.rawValue) \(record.name)" }

    private func check() throws(ServiceError) {
        if isFailing { throw ServiceError(.storeUnavailable, "No.") }
    }

    package func sealedSecrets() async throws(ServiceError) -> [SealedSecretRecord] {
        try check()
        return secrets.sorted { $0.key < $1.key }.map(\.value).sorted {
            ($0.kind.rawValue, $0.name) < ($1.kind.rawValue, $1.name)
        }
    }

    package func rewrapSealedSecrets(
        _ rewrap: @escaping @Sendable (SealedSecretRecord) -> SealedSecretRecord?
    ) async throws(ServiceError) -> Int {
        try check()
        let changed = secrets.values.compactMap(rewrap)
        for record in changed { secrets[Self.name(record)] = record }
        return changed.count
    }

    package func overwriteRemoved() async throws(ServiceError) {
        try check()
        overwritten += 1
        if isOverwritingFailing { throw ServiceError(.storeUnavailable, "No.") }
    }

    package func importedKeys() async throws(ServiceError) -> [ImportedKey] {
        try check()
        return imported.sorted { ($0.importedAt, $0.keyID) < ($1.importedAt, $1.keyID) }
    }

    package func addImportedKey(
        _ key: ImportedKey, sealed: SealedSecretRecord
    ) async throws(ServiceError) -> Bool {
        try check()
        guard !imported.contains(where: { $0.keyID == key.keyID }) else { return false }
        imported.append(key)
        secrets[Self.name(sealed)] = sealed
        return true
    }

    package func deleteImportedKey(id: String) async throws(ServiceError) -> Bool {
        try check()
        guard imported.contains(where: { $0.keyID == id }) else { return false }
        imported.removeAll { $0.keyID == id }
        secrets["signingKey \(id)"] = nil
        states.roles = states.roles.filter { $0.keyID != id }
        states.histories[id] = nil
        return true
    }

    package func keyStates() async throws(ServiceError) -> KeyStates {
        try check()
        return states
    }

    package func mergeKeyStates(
        _ states: KeyStates, since base: KeyStates
    ) async throws(ServiceError) -> KeyStates {
        let merged = isShared ? states.merged(with: self.states, since: base) : states
        if !isShared || merged != self.states { try await replaceKeyStates(merged) }
        return merged
    }

    package func replaceKeyStates(_ states: KeyStates) async throws(ServiceError) {
        try check()
        writes += 1
        self.states = states
        await written.pass()
    }
}
