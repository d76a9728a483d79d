package import Domain

/// The transaction memory in memory.
package actor InMemoryTransactionMemory: TransactionMemory {
    private struct Key: Hashable {
        let app: String
        let identifier: String
        let environment: AppStoreEnvironment
    }

    private var accounts: [Key: String?] = [:]

    package init() {}

    package func known(app: String, identifiers: Set<String>) async throws(ServiceError) -> [KnownIdentifier] {
        accounts.filter { $0.key.app == app && identifiers.contains($0.key.identifier) }.map { key, account in
            KnownIdentifier(identifier: key.identifier, environment: key.environment, appTransactionID: account)
        }
    }

    package func remember(_ entries: [KnownIdentifier], app: String) async throws(ServiceError) {
        for entry in entries {
            let key = Key(app: app, identifier: entry.identifier, environment: entry.environment)
            accounts[key] = .some(entry.appTransactionID ?? accounts[key] ?? nil)
        }
    }
}
