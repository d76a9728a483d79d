package import Domain
package import Foundation

/// The caller keys in memory.
package actor InMemoryCallerKeyStore: CallerKeyStore {
    private var keys: [CallerKey] = []

    package init() {}

    package func addCallerKey(_ key: CallerKey) async throws(ServiceError) -> Bool {
        guard !keys.contains(where: { $0.id == key.id }) else { return false }
        keys.append(key)
        return true
    }

    package func callerKey(id: String) async throws(ServiceError) -> CallerKey? { keys.first { $0.id == id } }

    package func callerKeys() async throws(ServiceError) -> [CallerKey] { keys }

    package func revokeCallerKey(
        id: String, caller: String, at date: Date
    ) async throws(ServiceError) -> CallerKey? {
        guard let index = keys.firstIndex(where: { $0.id == id && $0.caller == caller }) else { return nil }
        if keys[index].revokedAt == nil { keys[index] = keys[index].revoked(at: date) }
        return keys[index]
    }
}
