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

    /// How often a call is made whose connection breaks.
    private static let attempts = 2

    /// Tries a token on an app's behalf, once more if the connection breaks.
    ///
    /// It counts as our own work, and may use the reserve: all calls of the app wait for it. No breaker stops it, since it
    /// follows an answer of Apple's. How much time there is, is asked before each attempt.
    func ask(
        _ token: BearerToken, _ app: App, _ environment: AppStoreEnvironment, within time: @autoclosure () -> Duration
    ) async -> Answer {
        let request = UpstreamRequest(.getTransactionInfo(transactionId: Self.absentTransaction))
        let call = BudgetedCall(
            app: app.slug, endpoint: request.operation.name, environment: environment, caller: BudgetedCall.ownWork,
            priority: .deadlineBound)
        for _ in 0..<Self.attempts {
            await budget.prepare(call)
            let time = time()
            guard time > .zero, budget.admit(call) == .admitted else { return .nothing }
            do throws(CurlError) {
                let response = try await transport.send(request, token, environment, within: time)
                return Self.answer(response, to: request.operation)
            } catch {
                // One that took all of its time leaves none; else the calls that wait for this meet the same failure and tell it.
                guard error.kind != .timeout else { return .nothing }
            }
        }
        return .nothing
    }

    private static func answer(_ response: CurlResponse, to operation: Endpoint.Operation) -> Answer {
        switch response.status {
        case 401: .refused(appleTime: response.headers.date)
        // Apple counts calls before it looks at them, perhaps.
        case 429, 500...: .nothing
        default: response.origin(to: operation) == .apple ? .accepted : .nothing
        }
    }
}

// MARK: For operators

extension AppStoreClient: KeyProbe {
    package func verdict(
        on token: BearerToken, for app: App, in environment: AppStoreEnvironment
    ) async -> KeyVerdict {
        let probe = TokenProbe(transport: transport, budget: budget)
        return switch await probe.ask(token, app, environment, within: transport.configuration.attemptTimeout) {
        case .accepted: .accepted
        case .refused: .refused
        case .nothing: .noAnswer
        }
    }
}
