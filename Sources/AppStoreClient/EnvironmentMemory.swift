import Domain
import Logging
import Synchronization

/// Remembers which environment an identifier belongs to: in this process first, in the store behind it.
///
/// | Cache | Key | Lifetime | Bound |
/// | --- | --- | --- | --- |
/// | environments | app and identifier | until `capacity / 2` others have come | `capacity` |
/// | not yet written | app and identifier | until the next `save()` | `capacity`, beyond which nothing is added |
///
/// An entry never becomes wrong: an identifier keeps its environment. No answer waits for the store to take one: what was
/// learnt is written afterwards, many entries at a time. A process that is killed before costs one call to the wrong
/// environment for each, no more.
final class EnvironmentMemory: Sendable {
    private struct Key: Hashable {
        let app: String
        let identifier: String
    }

    private struct State {
        var recent: [Key: AppStoreEnvironment] = [:]
        /// What was recent before; what is asked for again becomes recent, and the rest goes.
        var older: [Key: AppStoreEnvironment] = [:]
        var unwritten: [Key: AppStoreEnvironment] = [:]
    }

    /// For so many apps at a time is written; they share a commit.
    private static let concurrentWrites = 64

    private let store: any TransactionMemory
    private let capacity: Int
    private let logger: Logger
    private let state = Mutex(State())

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
        if let known = state.withLock({ find(key, in: &$0) }) { return known }
        do {
            let known = try await store.known(app: app.slug, identifiers: [identifier])
            guard known.count == 1, let environment = known.first?.environment else { return nil }
            state.withLock { keep(environment, key, in: &$0) }
            return environment
        } catch {
            logger.tell(
                "Remembered environments cannot be read", error, level: .warning, ["app": "\(app.slug)"])
            return nil
        }
    }

    /// Records what an answer told; the store hears of it with the next `save()`.
    func remember(_ environment: AppStoreEnvironment, of identifier: String, app: App) {
        let key = Key(app: app.slug, identifier: identifier)
        state.withLock { state in
            guard find(key, in: &state) != environment else { return }
            keep(environment, key, in: &state)
            if state.unwritten.count < capacity { state.unwritten[key] = environment }
        }
    }

    /// Writes what was learnt since the last time to the store.
    ///
    /// What cannot be written costs a call later on, no more.
    func save() async {
        let unwritten = state.withLock { state in
            defer { state.unwritten = [:] }
            return state.unwritten
        }
        let entries = Dictionary(grouping: unwritten, by: \.key.app).mapValues { entries in
            entries.map { KnownIdentifier(identifier: $0.key.identifier, environment: $0.value, appTransactionID: nil) }
        }
        await withTaskGroup(of: Void.self) { group in
            for (index, (app, entries)) in entries.enumerated() {
                if index >= Self.concurrentWrites { await group.next() }
                group.addTask { await self.write(entries, app: app) }
            }
        }
    }

    private func write(_ entries: [KnownIdentifier], app: String) async {
        do {
            try await store.remember(entries, app: app)
        } catch {
            logger.tell(
                "Environments cannot be remembered", error, level: .warning,
                ["app": "\(app)", "count": "\(entries.count)"])
        }
    }

    private func find(_ key: Key, in state: inout State) -> AppStoreEnvironment? {
        if let known = state.recent[key] { return known }
        guard let known = state.older[key] else { return nil }
        keep(known, key, in: &state)
        return known
    }

    private func keep(_ environment: AppStoreEnvironment, _ key: Key, in state: inout State) {
        if state.recent.count >= capacity / 2 {
            state.older = state.recent
            state.recent = [:]
        }
        state.recent[key] = environment
    }
}
