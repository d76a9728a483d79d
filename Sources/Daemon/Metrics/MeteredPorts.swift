import AppStoreAPI
import AppStoreClient
import CoreMetrics
import Domain

/// Counts the notifications that come in, by type and by what the verifier says of them.
struct MeteredNotificationVerifier: NotificationVerifier {
    private struct Received: Hashable {
        let app: String
        let type: String
        let result: String
    }

    /// The type of those whose type this version does not know: the sender must not be able to make series without end.
    private static let otherType = "other"

    private let verifier: any NotificationVerifier
    private let received: CounterSet<Received>

    init(_ verifier: any NotificationVerifier, metrics factory: any MetricsFactory) {
        self.verifier = verifier
        received = CounterSet("purser_notifications", factory: factory) { received in
            [("app", received.app), ("type", received.type), ("result", received.result)]
        }
    }

    func notification(
        _ signed: String, app: App, for requester: Requester
    ) async throws(ServiceError) -> AppleNotification {
        do throws(ServiceError) {
            let notification = try await verifier.notification(signed, app: app, for: requester)
            let isKnown = NotificationTypeV2.known.contains { $0.rawValue == notification.notificationType }
            count(app, type: isKnown ? notification.notificationType : Self.otherType, result: "verified")
            return notification
        } catch {
            // Nothing that it says of itself is to be believed.
            count(app, type: Self.otherType, result: error.reason.rawValue)
            throw error
        }
    }

    func claims(of signed: String) -> NotificationClaims { verifier.claims(of: signed) }

    func subject(of signed: String) -> NotificationSubject { verifier.subject(of: signed) }

    private func count(_ app: App, type: String, result: String) {
        received.increment(Received(app: app.slug, type: type, result: result))
    }
}

/// Counts what a budget refuses, by cause.
struct MeteredBudget: CallBudget {
    private struct Refused: Hashable {
        let endpoint: String
        let app: String
        let environment: AppStoreEnvironment
        let cause: BudgetDecision.Refusal.Cause
    }

    private let budget: any CallBudget
    private let refusals: CounterSet<Refused>

    init(_ budget: any CallBudget, metrics factory: any MetricsFactory) {
        self.budget = budget
        refusals = CounterSet("purser_budget_refusals", factory: factory) { refused in
            [
                ("endpoint", refused.endpoint), ("app", refused.app), ("environment", refused.environment.rawValue),
                ("cause", refused.cause.rawValue),
            ]
        }
    }

    func prepare(_ call: BudgetedCall) async { await budget.prepare(call) }

    func admit(_ call: BudgetedCall) -> BudgetDecision {
        let decision = budget.admit(call)
        if case .refused(let refusal) = decision {
            refusals.increment(
                Refused(
                    endpoint: call.endpoint, app: call.app, environment: call.environment, cause: refusal.cause))
        }
        return decision
    }

    func appleRefused(_ call: BudgetedCall, for duration: Duration) { budget.appleRefused(call, for: duration) }
}
