import AppStoreAPI
import Curl
package import Domain
import Foundation

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
    /// follows an answer of Apple's. A connection that breaks is no answer: as any call, it is then made once more.
    func ask(_ token: BearerToken, _ app: App, _ environment: AppStoreEnvironment, within time: Duration) async
        -> Answer
    {
        await attempt(token, app, environment, within: time, isLast: false)
    }

    private func attempt(
        _ token: BearerToken, _ app: App, _ environment: AppStoreEnvironment, within time: Duration, isLast: Bool
    ) async -> Answer {
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
            // One that took all of its time leaves none; else the calls that wait for this meet the same failure and tell it.
            guard !isLast, error.kind != .timeout else { return .nothing }
            return await attempt(token, app, environment, within: time, isLast: true)
        }
    }
}

// MARK: For operators

extension AppStoreClient: KeyProbe {
    /// How often Apple is asked while it says nothing for sure; each time it may take as long as for any call.
    private static let attempts = 2

    package func verdict(
        on token: BearerToken, for app: App, in environment: AppStoreEnvironment
    ) async -> KeyVerdict {
        let probe = TokenProbe(transport: transport, budget: budget)
        for _ in 0..<Self.attempts {
            switch await probe.ask(token, app, environment, within: transport.configuration.attemptTimeout) {
            case .accepted: return .accepted
            case .refused: return .refused
            case .nothing: continue
            }
        }
        return .noAnswer
    }
}
