package import Domain
import Synchronization

/// Remembers what was done, and fails as it is told; a user's pseudonym is the user's id, turned round.
package final class RememberedAudit: AuditTrail {
    private struct State {
        var acts: [AuditAct] = []
        var isFailing = false
    }

    private let state = Mutex(State())
    /// What is settled waits in front of it.
    package let settling = Gate()

    package init() {}

    /// Everything that was kept, in order.
    package var acts: [AuditAct] { state.withLock(\.acts) }

    /// The acts of one kind.
    package func acts(_ action: AuditAct.Action) -> [AuditAct] { acts.filter { $0.action == action } }

    /// Whether nothing can be kept: acts that need a record do not happen, the others are forgotten.
    package func fail(_ isFailing: Bool = true) { state.withLock { $0.isFailing = isFailing } }

    package func record(_ act: AuditAct) async throws(ServiceError) { try keep(act) }

    package func settle(_ act: AuditAct) async {
        await settling.pass()
        try? keep(act)
    }

    package func note(_ act: AuditAct) throws(ServiceError) { try keep(act) }

    package func pseudonym(of user: UserID, app: String) async -> String? { String(user.value.reversed()) }

    package func existingPseudonym(of user: UserID, app: String) async throws(ServiceError) -> String? {
        acts.contains { $0.pseudonym == String(user.value.reversed()) } ? String(user.value.reversed()) : nil
    }

    private func keep(_ act: AuditAct) throws(ServiceError) {
        try state.withLock { state throws(ServiceError) in
            guard !state.isFailing else { throw ServiceError(.auditUnavailable, "The audit cannot be written.") }
            state.acts.append(act)
        }
    }
}
