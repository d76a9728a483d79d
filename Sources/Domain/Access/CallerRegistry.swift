import Foundation
import Synchronization

/// Every caller, in memory: asked for each request, and brought up to date with each change.
///
/// A change of this process is known at once when the store has kept it; one that another process made, or whose outcome the
/// store could not tell, with the next look, every `refreshInterval`.
package final class CallerRegistry: Sendable {
    /// How often the store is asked whether anything has changed: a revocation takes effect everywhere within 5 s.
    package static let refreshInterval = Duration.seconds(2)
    /// How many callers operators may add.
    package static let maximumCallers = 10_000

    /// How many uses the store is told of in one operation.
    private static let usesAtOnce = 500

    private struct State {
        /// Those of the configuration, in their order.
        var configured: [ConfiguredCaller]
        var index: CallerIndex
        /// The generation of what was last read as a whole.
        var loaded: Int64 = -1
        /// The generation at which each caller was changed since.
        var changes: [String: Int64] = [:]
        /// Counts what may have ended a credential.
        var version: UInt64 = 0
        /// When credentials were last used: what the store knows, and what it has to be told.
        var uses: [String: [CallerCredential: Date]] = [:]
        var unsaved: [String: Set<CallerCredential>] = [:]
    }

    private let state: Mutex<State>
    /// Told how many callers there are for each app, whenever that may have changed.
    private let counted: @Sendable ([String: Int]) -> Void
    private let now: WallClock

    /// - Parameters:
    ///   - configured: the callers of the configuration.
    ///   - now: the time of day.
    ///   - counted: is told how many callers may ask about each app, by its slug.
    package init(
        configured: [ConfiguredCaller], now: @escaping WallClock,
        counted: @escaping @Sendable ([String: Int]) -> Void = { _ in }
    ) {
        self.now = now
        self.counted = counted
        state = Mutex(State(configured: configured, index: CallerIndex(configured: configured)))
        count()
    }

    /// Asks the index something.
    func read<Value>(_ body: (CallerIndex) throws -> Value) rethrows -> Value {
        try state.withLock { try body($0.index) }
    }

    /// Checks that one more caller may be added.
    ///
    /// - Throws: `callerConflict`.
    func requireRoom() throws(ServiceError) {
        guard read({ $0.stored.count }) >= Self.maximumCallers else { return }
        throw ServiceError(
            .callerConflict, "\(Self.maximumCallers) callers have been added, which is as many as may be; remove one.")
    }

    /// The time of day.
    func time() -> Date { now() }

    /// Grows with everything that may have ended a credential.
    var version: UInt64 { state.withLock(\.version) }
}

// MARK: Changes

extension CallerRegistry {
    /// Reads everything anew if anything has changed since the last time, by this process or another.
    ///
    /// - Throws: `storeUnavailable`; what was known stays.
    package func refresh(from store: any CallerStore) async throws(ServiceError) {
        let (loaded, version) = state.withLock { ($0.loaded, $0.version) }
        guard try await store.callerGeneration() != loaded else { return }
        let records = try await store.callerRecords()
        state.withLock { state in
            // What was changed here meanwhile may be missing in what was read; the next look takes the rest.
            guard state.version == version else { return }
            state.index = CallerIndex(configured: state.configured)
            for caller in records.callers { state.index.set(caller, named: caller.name) }
            for key in records.keys { state.index.set(key) }
            (state.loaded, state.changes) = (records.generation, [:])
            state.version += 1
        }
        count()
    }

    /// Takes a change that the store has kept.
    func apply(_ change: CallerChange) {
        state.withLock { state in
            guard change.generation > state.loaded, change.generation > state.changes[change.name] ?? -1 else { return }
            state.changes[change.name] = change.generation
            state.index.set(change.caller, named: change.name)
            // Of a caller that the configuration has taken the name of the uses are the configured one's.
            if change.caller == nil, state.index.configuredCaller(change.name) == nil {
                state.uses[change.name] = nil
                state.unsaved[change.name] = nil
            }
            state.version += 1
        }
        count()
    }

    /// Takes a key that the store has kept, or has revoked.
    func apply(_ key: CallerKey) {
        state.withLock { state in
            state.index.set(key)
            state.version += 1
        }
        count()
    }

    /// Puts other callers in the place of those of the configuration; in force when this returns.
    package func replace(configured: [ConfiguredCaller]) {
        // Ten thousand callers of the store take their time, in which nobody should have to wait.
        while true {
            let (version, before) = state.withLock { ($0.version, $0.index) }
            let index = before.replacing(configured: configured)
            let isDone = state.withLock { state in
                guard state.version == version else { return false }
                state.configured = configured
                state.index = index
                state.version += 1
                return true
            }
            if isDone { break }
        }
        count()
    }

    /// Tells how many callers there are for each app: also to be called now and then, as tokens expire.
    package func count() {
        // Of a copy, so that no request waits for ten thousand callers to be counted.
        let index = state.withLock(\.index)
        counted(index.callersByApp(at: now()))
    }
}

// MARK: Uses

extension CallerRegistry {
    /// Notes that a credential was used; this costs no more than a look, and the store is told later.
    func noteUse(of credential: CallerCredential, by caller: String, at now: Date) {
        state.withLock { state in
            if let last = state.uses[caller]?[credential], now.timeIntervalSince(last) < 60 { return }
            state.uses[caller, default: [:]][credential] = now
            state.unsaved[caller, default: []].insert(credential)
        }
    }

    /// When a caller last used its credentials, to about a minute.
    func uses(of caller: String) -> [CallerCredential: Date] { state.withLock { $0.uses[caller] ?? [:] } }

    /// Takes up what the store knows of earlier uses.
    ///
    /// - Throws: `storeUnavailable`.
    package func resumeUses(from store: any CallerStore) async throws(ServiceError) {
        let uses = try await store.callerUses()
        state.withLock { state in
            for use in uses {
                let known = state.uses[use.caller]?[use.credential] ?? .distantPast
                state.uses[use.caller, default: [:]][use.credential] = max(known, use.lastUsedAt)
            }
        }
    }

    /// Tells the store of uses that it does not know; what fails is told the next time.
    ///
    /// - Throws: `storeUnavailable`.
    package func saveUses(to store: any CallerStore) async throws(ServiceError) {
        let uses = state.withLock { state in
            defer { state.unsaved = [:] }
            return state.unsaved.flatMap { caller, credentials in
                credentials.compactMap { credential in
                    state.uses[caller]?[credential].map {
                        CallerUse(caller: caller, credential: credential, lastUsedAt: $0)
                    }
                }
            }
        }
        do throws(ServiceError) {
            for start in stride(from: 0, to: uses.count, by: Self.usesAtOnce) {
                try await store.noteCallerUses(Array(uses[start..<min(start + Self.usesAtOnce, uses.count)]))
            }
        } catch {
            state.withLock { state in
                for use in uses { state.unsaved[use.caller, default: []].insert(use.credential) }
            }
            throw error
        }
    }
}
