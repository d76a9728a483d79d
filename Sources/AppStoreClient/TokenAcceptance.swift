import Domain
import Logging
import Synchronization

/// Remembers where Apple has taken which key's tokens: lately, in this process; and in Production ever, in the store too.
///
/// Bound: one entry for each app that has succeeded in Production, and one for each key and app. The store hears of each app
/// once in the life of a process.
final class TokenAcceptance: Sendable {
    /// How long a success speaks for a key.
    private static let memory = Duration.seconds(600)

    private struct State {
        /// The apps that have succeeded in Production, by bundle id.
        var released: Set<String> = []
        /// Those of them that the store is still to be told of.
        var unwritten: Set<String> = []
        var hasFailed = false
        /// By key id and app, when Apple last took the key.
        var successes: [String: [String: ContinuousClock.Instant]] = [:]
    }

    private let store: any ReleaseMemory
    private let logger: Logger
    private let state = Mutex(State())

    init(store: any ReleaseMemory, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Takes note that Apple took a token; the store hears of it with the next `save()`.
    func note(keyID: String, app: App, in environment: AppStoreEnvironment, at now: ContinuousClock.Instant) {
        state.withLock { state in
            if environment == .production, state.released.insert(app.bundleID).inserted {
                state.unwritten.insert(app.bundleID)
            }
            state.successes[keyID, default: [:]][app.slug] = now
        }
    }

    /// Whether Apple's Production has ever taken a token of this app, in an earlier process too.
    ///
    /// - Returns: nil while the store, which would know, cannot be read.
    func hasSucceededInProduction(_ app: App) async -> Bool? {
        if state.withLock({ $0.released.contains(app.bundleID) }) { return true }
        do throws(ServiceError) {
            guard try await store.hasRelease(bundleID: app.bundleID) else { return false }
            state.withLock { _ = $0.released.insert(app.bundleID) }
            return true
        } catch {
            logger.tell(
                "Whether an app has a release in Production cannot be read", error, level: .warning,
                ["app": "\(app.slug)"])
            return nil
        }
    }

    /// Whether Apple has lately taken this key for another app.
    func isAcceptedForOthers(keyID: String, than app: App, at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            (state.successes[keyID] ?? [:]).contains { slug, instant in
                slug != app.slug && instant.duration(to: now) < Self.memory
            }
        }
    }

    /// Tells the store of apps that have succeeded since the last time; what cannot be written is tried again the next time.
    func save() async {
        let unwritten = state.withLock { state in
            defer { state.unwritten = [] }
            return state.unwritten
        }
        guard !unwritten.isEmpty else { return }
        do throws(ServiceError) {
            try await store.rememberReleases(ofBundleIDs: unwritten)
            state.withLock { $0.hasFailed = false }
        } catch {
            let isFirst = state.withLock { state in
                state.unwritten.formUnion(unwritten)
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            guard isFirst else { return }
            logger.tell(
                "Which apps have a release in Production cannot be kept", error, level: .warning,
                ["count": "\(unwritten.count)"])
        }
    }
}
