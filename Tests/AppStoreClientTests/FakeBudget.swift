import Domain
import Synchronization

/// Admits what a test says, and writes down what it was asked.
final class FakeBudget: CallBudget {
    private let decide: @Sendable (BudgetedCall) -> BudgetDecision
    private let state = Mutex<(asked: [BudgetedCall], refusals: [Duration])>(([], []))

    init(_ decide: @escaping @Sendable (BudgetedCall) -> BudgetDecision = { _ in .admitted }) { self.decide = decide }

    /// Every attempt that it was asked for.
    var asked: [BudgetedCall] { state.withLock(\.asked) }
    /// What Apple asked to wait, each time.
    var waits: [Duration] { state.withLock(\.refusals) }

    func admit(_ call: BudgetedCall) -> BudgetDecision {
        state.withLock { $0.asked.append(call) }
        return decide(call)
    }

    func appleRefused(_ call: BudgetedCall, for duration: Duration) {
        state.withLock { $0.refusals.append(duration) }
    }
}
