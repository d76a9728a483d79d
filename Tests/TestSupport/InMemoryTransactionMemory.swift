package import Domain

/// The transaction memory in memory.
package actor InMemoryTransactionMemory: TransactionMemory {
    private struct Key: Hashable {
        let app: String
        let identifier: String
        let environment: AppStoreEnvironment
    }

    private var accounts: [Key: String?] = [:]
    /// The identifiers in the order in which they came.
    private var order: [Key] = []

    package init() {}

    package func known(app: String, identifiers: Set<String>) async throws(ServiceError) -> [KnownIdentifier] {
        accounts.filter { $0.key.app == app && identifiers.contains($0.key.identifier) }.map { key, account in
            KnownIdentifier(identifier: key.identifier, environment: key.environment, appTransactionID: account)
        }
    }

    package func identifiers(
        of appTransactionID: String, app: String, environment: AppStoreEnvironment, limit: Int
    ) async throws(ServiceError) -> Set<String> {
        let found = order.filter { key in
            key.app == app && key.environment == environment && accounts[key] == .some(appTransactionID)
        }
        return Set(found.suffix(limit).map(\.identifier))
    }

    package func remember(_ entries: [KnownIdentifier], app: String) async throws(ServiceError) {
        for entry in entries {
            let key = Key(app: app, identifier: entry.identifier, environment: entry.environment)
            if accounts[key] == nil { order.append(key) }
            accounts[key] = .some(entry.appTransactionID ?? accounts[key] ?? nil)
        }
    }
}
