import Domain
import Logging
import Synchronization

/// Remembers which environment an identifier belongs to: in this process first, in the store behind it.
///
/// Key: app and identifier. Bound: `capacity`; when it is full, everything goes and is read from the store again. An entry
/// never becomes wrong: an identifier keeps its environment.
final class EnvironmentMemory: Sendable {
    private struct Key: Hashable {
        let app: String
        let identifier: String
    }

    private let store: any TransactionMemory
    private let capacity: Int
    private let logger: Logger
    private let entries = Mutex<[Key: AppStoreEnvironment]>([:])

    init(store: any TransactionMemory, capacity: Int = 100_000, logger: Logger) {
        self.store = store
        self.capacity = capacity
        self.logger = logger
    }

    /// The environment of an identifier, if an earlier answer told.
    ///
    /// A store that cannot be read costs a call, no more.
    func environment(of identifier: String, app: App) async -> AppStoreEnvironment? {
        let key = Key(app: app.slug, identifier: identifier)
        if let known = entries.withLock({ $0[key] }) { return known }
        do {
            let known = try await store.known(app: app.slug, identifiers: [identifier])
            guard known.count == 1, let environment = known.first?.environment else { return nil }
            keep(environment, key)
            return environment
        } catch {
            logger.warning(
                "Remembered environments cannot be read",
                metadata: ["app": "\(app.slug)", "cause": "\(error.cause ?? error.message)"])
            return nil
        }
    }

    /// Records what an answer told.
    ///
    /// A store that cannot be written costs a call later on, no more.
    func remember(_ environment: AppStoreEnvironment, of identifier: String, app: App) async {
        let key = Key(app: app.slug, identifier: identifier)
        guard entries.withLock({ $0[key] }) != environment else { return }
        keep(environment, key)
        do {
            try await store.remember(
                [KnownIdentifier(identifier: identifier, environment: environment, appTransactionID: nil)],
                app: app.slug)
        } catch {
            logger.warning(
                "An environment cannot be remembered",
                metadata: ["app": "\(app.slug)", "cause": "\(error.cause ?? error.message)"])
        }
    }

    private func keep(_ environment: AppStoreEnvironment, _ key: Key) {
        entries.withLock { entries in
            if entries.count >= capacity { entries.removeAll(keepingCapacity: true) }
            entries[key] = environment
        }
    }
}
