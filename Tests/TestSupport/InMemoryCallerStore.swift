package import Domain
package import Foundation

/// The callers and their keys in memory.
package actor InMemoryCallerStore: CallerStore {
    private var generation: Int64 = 0
    private var callers: [String: StoredCaller] = [:]
    private var keys: [CallerKey] = []
    private var uses: [String: [CallerCredential: Date]] = [:]

    package init() {}

    package func addCallerKey(_ key: CallerKey) async throws(ServiceError) -> Bool {
        guard !keys.contains(where: { $0.id == key.id }) else { return false }
        keys.append(key)
        generation += 1
        return true
    }

    package func callerKey(id: String) async throws(ServiceError) -> CallerKey? { keys.first { $0.id == id } }

    package func callerKeys() async throws(ServiceError) -> [CallerKey] { keys }

    package func revokeCallerKey(
        id: String, caller: String, at date: Date
    ) async throws(ServiceError) -> CallerKey? {
        guard let index = keys.firstIndex(where: { $0.id == id && $0.caller == caller }) else { return nil }
        if keys[index].revokedAt == nil {
            keys[index] = keys[index].revoked(at: date)
            generation += 1
        }
        return keys[index]
    }

    package func callerRecords() async throws(ServiceError) -> CallerRecords {
        CallerRecords(
            generation: generation, callers: callers.values.sorted { $0.name < $1.name }, keys: keys)
    }

    package func callerGeneration() async throws(ServiceError) -> Int64 { generation }

    package func updateCaller(
        _ name: String, _ change: @escaping @Sendable (StoredCaller?) throws(ServiceError) -> StoredCaller
    ) async throws(ServiceError) -> CallerChange {
        let new = try change(callers[name])
        for binding in new.bindings {
            let owner = callers.values.first { $0.name != name && $0.bindings.contains(binding) }
            if let owner { throw CallerAdministration.bound(binding, to: owner.name) }
        }
        callers[name] = new
        generation += 1
        return CallerChange(generation: generation, name: name, caller: new)
    }

    package func removeCaller(
        _ name: String, revokingKeysAt date: Date?
    ) async throws(ServiceError) -> CallerChange? {
        guard callers.removeValue(forKey: name) != nil else { return nil }
        if let date {
            for index in keys.indices where keys[index].caller == name && keys[index].revokedAt == nil {
                keys[index] = keys[index].revoked(at: date)
            }
            uses[name] = nil
        }
        generation += 1
        return CallerChange(generation: generation, name: name, caller: nil)
    }

    package func noteCallerUses(_ uses: [CallerUse]) async throws(ServiceError) {
        for use in uses {
            let known = self.uses[use.caller]?[use.credential] ?? .distantPast
            self.uses[use.caller, default: [:]][use.credential] = max(known, use.lastUsedAt)
        }
    }

    package func callerUses() async throws(ServiceError) -> [CallerUse] {
        uses.flatMap { caller, uses in
            uses.map { CallerUse(caller: caller, credential: $0.key, lastUsedAt: $0.value) }
        }.sorted { ($0.caller, $0.credential.text) < ($1.caller, $1.credential.text) }
    }
}
