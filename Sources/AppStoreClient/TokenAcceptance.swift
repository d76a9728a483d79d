import Domain
import Synchronization

/// Remembers where Apple has taken which key's tokens, in this process.
///
/// Bound: one entry for each app that has succeeded in Production, and one for each key and app.
final class TokenAcceptance: Sendable {
    /// How long a success speaks for a key.
    private static let memory = Duration.seconds(600)

    private struct State {
        var productionApps: Set<String> = []
        /// By key id and app, when Apple last took the key.
        var successes: [String: [String: ContinuousClock.Instant]] = [:]
    }

    private let state = Mutex(State())

    /// Takes note that Apple took a token.
    func note(keyID: String, app: App, in environment: AppStoreEnvironment, at now: ContinuousClock.Instant) {
        state.withLock { state in
            if environment == .production { state.productionApps.insert(app.slug) }
            state.successes[keyID, default: [:]][app.slug] = now
        }
    }

    /// Whether Apple's Production has ever taken a token of this app.
    func hasSucceededInProduction(_ app: App) -> Bool {
        state.withLock { $0.productionApps.contains(app.slug) }
    }

    /// Whether Apple has lately taken this key for another app.
    func isAcceptedForOthers(keyID: String, than app: App, at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            (state.successes[keyID] ?? [:]).contains { slug, instant in
                slug != app.slug && instant.duration(to: now) < Self.memory
            }
        }
    }
}
