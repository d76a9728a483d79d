package import Domain
package import Foundation

/// What was used of the budgets, in memory.
package actor InMemoryBudgetStore: BudgetStore {
    private struct Key: Hashable {
        let call: BudgetedCall
        let minute: Int
    }

    private var calls: [Key: Int] = [:]
    private var blocks: [BudgetBlock] = []
    private var failure: ServiceError?

    package init() {}

    /// From now on every call fails so, or none does.
    package func fail(with failure: ServiceError?) { self.failure = failure }

    package func budgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError) -> [BudgetRecord] {
        try failIfToldTo()
        return calls.filter { minutes.contains($0.key.minute) }.map { key, calls in
            BudgetRecord(call: key.call, minute: key.minute, calls: calls)
        }
    }

    package func saveBudgetRecords(_ records: [BudgetRecord]) async throws(ServiceError) {
        try failIfToldTo()
        for record in records { calls[Key(call: record.call, minute: record.minute)] = record.calls }
    }

    package func keepBudgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError) {
        try failIfToldTo()
        calls = calls.filter { minutes.contains($0.key.minute) }
    }

    package func budgetBlocks(after date: Date) async throws(ServiceError) -> [BudgetBlock] {
        try failIfToldTo()
        return blocks.filter { $0.until > date }
    }

    package func replaceBudgetBlocks(_ blocks: [BudgetBlock]) async throws(ServiceError) {
        try failIfToldTo()
        self.blocks = blocks
    }

    private func failIfToldTo() throws(ServiceError) {
        if let failure { throw failure }
    }
}
