package import Foundation

/// Calls of one minute, as they are kept beyond a restart.
package struct BudgetRecord: Sendable, Hashable {
    package let call: BudgetedCall
    /// Since 1970, by the time of day.
    package let minute: Int
    /// How many, at least one.
    package let calls: Int

    package init(call: BudgetedCall, minute: Int, calls: Int) {
        self.call = call
        self.minute = minute
        self.calls = calls
    }
}

/// Apple's wish to wait, as it is kept beyond a restart.
package struct BudgetBlock: Sendable, Hashable {
    package let app: String
    /// The title of Apple's page for the call.
    package let endpoint: String
    package let environment: AppStoreEnvironment
    package let until: Date

    package init(app: String, endpoint: String, environment: AppStoreEnvironment, until: Date) {
        self.app = app
        self.endpoint = endpoint
        self.environment = environment
        self.until = until
    }
}

/// Keeps what was used of the budgets; every method is one atomic operation.
///
/// Every method throws `storeUnavailable`. Times are kept to the millisecond.
package protocol BudgetStore: Sendable {
    /// The records of some minutes.
    func budgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError) -> [BudgetRecord]

    /// Keeps records, each in place of an earlier one of the same call and minute.
    func saveBudgetRecords(_ records: [BudgetRecord]) async throws(ServiceError)

    /// Forgets the records of all other minutes.
    func keepBudgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError)

    /// The blocks that last beyond a time.
    func budgetBlocks(after date: Date) async throws(ServiceError) -> [BudgetBlock]

    /// Keeps these blocks, in place of all that are kept.
    func replaceBudgetBlocks(_ blocks: [BudgetBlock]) async throws(ServiceError)
}
