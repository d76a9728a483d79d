import CoreMetrics
import Domain
import Metrics

/// Counts what a budget refuses, by cause.
struct MeteredBudget: CallBudget {
    private let budget: any CallBudget
    private let factory: any MetricsFactory

    init(_ budget: any CallBudget, metrics factory: any MetricsFactory) {
        self.budget = budget
        self.factory = factory
    }

    func admit(_ call: BudgetedCall) -> BudgetDecision {
        let decision = budget.admit(call)
        if case .refused(let refusal) = decision {
            Counter(
                label: "purser_budget_refusals",
                dimensions: [
                    ("endpoint", call.endpoint), ("app", call.app), ("environment", call.environment.rawValue),
                    ("cause", refusal.cause.rawValue),
                ], factory: factory
            ).increment()
        }
        return decision
    }

    func appleRefused(_ call: BudgetedCall, for duration: Duration) { budget.appleRefused(call, for: duration) }
}
