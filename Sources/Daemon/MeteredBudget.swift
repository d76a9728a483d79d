import AppStoreClient
import CoreMetrics
import Domain

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
