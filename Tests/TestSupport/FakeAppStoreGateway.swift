package import Domain
import Synchronization

/// An App Store with a fixed stock of Apple Accounts, in memory; counts what it is asked.
package final class FakeAppStoreGateway: AppStoreGateway {
    /// One question that was put to it.
    package enum Question: Sendable, Hashable {
        case transaction(String)
        case history(String, revision: String?)
        case refunds(String, revision: String?)
        case consumption(String)
    }

    private struct State {
        var accounts: [[Transaction]]
        var questions: [Question] = []
        var failures: [String: ServiceError] = [:]
        var consumptionFailure: ServiceError?
    }

    private let state: Mutex<State>
    private let pageSize: Int

    /// `accounts`: the transactions of each Apple Account.
    package init(accounts: [[Transaction]], pageSize: Int = 20) {
        state = Mutex(State(accounts: accounts))
        self.pageSize = pageSize
    }

    /// Everything that was asked, in order.
    package var questions: [Question] { state.withLock(\.questions) }

    /// Makes every question about an identifier fail.
    package func fail(_ identifier: String, with error: ServiceError) {
        state.withLock { $0.failures[identifier] = error }
    }

    /// Makes sending consumption fail.
    package func failConsumption(with error: ServiceError?) {
        state.withLock { $0.consumptionFailure = error }
    }

    package func transaction(_ transactionID: String, _ call: UpstreamCall) async throws(ServiceError) -> Transaction {
        let account = try account(of: transactionID, .transaction(transactionID), call)
        guard let transaction = account.first(where: { $0.transactionID == transactionID }) else {
            throw Self.unknown(call)
        }
        return transaction
    }

    package func historyPage(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let account = try account(of: identifier, .history(identifier, revision: revision), call)
        let admitted = account.filter { transaction in
            filter.revoked.map { $0 == (transaction.revocationDate != nil) } ?? true
        }
        return page(admitted, revision)
    }

    package func refundPage(
        _ identifier: String, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let account = try account(of: identifier, .refunds(identifier, revision: revision), call)
        return page(account.filter { $0.revocationDate != nil }, revision)
    }

    package func sendConsumption(
        _ answer: ConsumptionAnswer, transactionID: String, _ call: UpstreamCall
    ) async -> ConsumptionOutcome {
        let failure = state.withLock { state in
            state.questions.append(.consumption(transactionID))
            return state.consumptionFailure
        }
        return ConsumptionOutcome(attempts: [], failure: failure, mayHaveReachedApple: failure == nil)
    }

    private func page(_ transactions: [Transaction], _ revision: String?) -> TransactionPage {
        let start = revision.flatMap(Int.init) ?? 0
        let end = min(start + pageSize, transactions.count)
        return TransactionPage(
            transactions: Array(transactions[min(start, end)..<end]), revision: String(end),
            hasMore: end < transactions.count, environment: transactions.first?.environment ?? .production)
    }

    private func account(
        of identifier: String, _ question: Question, _ call: UpstreamCall
    ) throws(ServiceError) -> [Transaction] {
        let (account, failure) = state.withLock { state in
            state.questions.append(question)
            let account = state.accounts.first { account in
                account.contains { transaction in
                    [transaction.transactionID, transaction.originalTransactionID, transaction.appTransactionID]
                        .contains(identifier)
                        && (call.environment == nil || call.environment == transaction.environment)
                }
            }
            return (account, state.failures[identifier])
        }
        if let failure { throw failure }
        guard let account else { throw Self.unknown(call) }
        return account
    }

    private static func unknown(_ call: UpstreamCall) -> ServiceError {
        ServiceError(
            .appleRejected, "unknown",
            apple: AppleFailure(
                httpStatus: 404, errorCode: 4_040_010, errorName: "TransactionIdNotFoundError", errorMessage: nil,
                environment: call.environment ?? .sandbox, endpoint: "fake"))
    }
}
