import AppStoreAPI
import Curl
import Domain
import Foundation
import Synchronization

/// Asks Apple what it thinks of a token, by a call that can change nothing.
///
/// It is Get Transaction Info for a transaction id that no purchase has: Apple judges the token first, so 401 is about the
/// token, and any other answer (4040010, as a rule) shows that it was taken.
struct TokenProbe: Sendable {
    let transport: AppleTransport
    let budget: any CallBudget

    /// No purchase has this id.
    private static let absentTransaction = "0"

    enum Answer: Sendable, Equatable {
        case accepted
        /// `appleTime`: when Apple says that it answered.
        case refused(appleTime: Date?)
        /// Apple did not answer, or not for sure.
        case nothing
    }

    /// Tries a token on an app's behalf.
    ///
    /// It counts as our own work, and may use the reserve: all calls of the app wait for it. No breaker stops it, since it
    /// follows an answer of Apple's.
    func ask(_ token: BearerToken, _ app: App, _ environment: AppStoreEnvironment, within time: Duration) async
        -> Answer
    {
        let request = UpstreamRequest(.getTransactionInfo(transactionId: Self.absentTransaction))
        let call = BudgetedCall(
            app: app.slug, endpoint: request.operation.name, environment: environment, caller: BudgetedCall.ownWork,
            priority: .deadlineBound)
        guard time > .zero, budget.admit(call) == .admitted else { return .nothing }
        do throws(CurlError) {
            let response = try await transport.send(request, token, environment, within: time)
            switch response.status {
            case 401: return .refused(appleTime: response.headers.date)
            // Apple counts calls before it looks at them, perhaps.
            case 429, 500...: return .nothing
            default: return response.origin(to: request.operation) == .apple ? .accepted : .nothing
            }
        } catch {
            // The calls that wait for this will meet the same failure and tell it.
            return .nothing
        }
    }
}

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
