package import Domain
import Foundation
import Synchronization

/// An App Store with a fixed stock of Apple Accounts, in memory; counts what it is asked.
package final class FakeAppStoreGateway: AppStoreGateway {
    /// One question that was put to it.
    package enum Question: Sendable, Equatable {
        case transaction(String)
        case history(String, revision: String?)
        case refunds(String, revision: String?)
        case consumption(String)
        case historyV1(String, revision: String?)
        case refundsV1(String)
        case appTransaction(String)
        case order(String)
        case setAppAccountToken(String, String)
        case finish(String)
        case subscriptions(String, [SubscriptionStatus])
        case extend(String, RenewalExtension)
        case extendAll(MassRenewalExtension)
        case massExtensionStatus(String, String)
        case requestTestNotification
        case testNotification(String)
        case notificationHistory(NotificationHistoryQuery, paginationToken: String?)
    }

    struct State {
        var accounts: [[Transaction]]
        var questions: [Question] = []
        var calls: [UpstreamCall] = []
        var underWay = 0
        var mostUnderWay = 0
        var failures: [String: ServiceError] = [:]
        var consumption = Consumption()
        var statuses: [String: SubscriptionStatus] = [:]
        var orders: [String: [String]] = [:]
        var notifications: [SentNotification] = []
    }

    let state: Mutex<State>
    let pageSize: Int
    let now: WallClock
    /// Every question has to pass it before it is answered.
    package let gate = Gate()
    /// Every answer about consumption has to pass it before it is taken.
    package let consumptionGate = Gate()

    /// `accounts`: the transactions of each Apple Account.
    package init(
        accounts: [[Transaction]], pageSize: Int = 20,
        now: @escaping WallClock = { Date(timeIntervalSince1970: 1_700_000_000) }
    ) {
        state = Mutex(State(accounts: accounts))
        self.pageSize = pageSize
        self.now = now
    }

    /// Everything that was asked, in order.
    package var questions: [Question] { state.withLock(\.questions) }

    /// For whom and until when each was asked.
    package var calls: [UpstreamCall] { state.withLock(\.calls) }

    /// How many questions were under way at once, at most.
    package var mostUnderWay: Int { state.withLock(\.mostUnderWay) }

    /// Makes every question about an identifier fail, or none any more.
    package func fail(_ identifier: String, with error: ServiceError?) {
        state.withLock { $0.failures[identifier] = error }
    }

    /// Makes every question about an identifier in one environment fail.
    package func fail(_ identifier: String, in environment: AppStoreEnvironment, with error: ServiceError?) {
        fail("\(environment.rawValue) \(identifier)", with: error)
    }

    /// Adds an Apple Account, in the place of one with the same first transaction.
    package func add(_ account: [Transaction]) {
        state.withLock { state in
            state.accounts.removeAll { $0.first?.transactionID == account.first?.transactionID }
            state.accounts.append(account)
        }
    }

    package func transaction(_ transactionID: String, _ call: UpstreamCall) async throws(ServiceError) -> Transaction {
        let account = try await account(of: transactionID, .transaction(transactionID), call)
        guard let transaction = account.first(where: { $0.transactionID == transactionID }) else {
            throw Self.unknown(call)
        }
        return transaction
    }

    package func historyPage(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let account = try await account(of: identifier, .history(identifier, revision: revision), call)
        let admitted = account.filter { transaction in
            filter.revoked.map { $0 == (transaction.revocationDate != nil) } ?? true
        }
        return page(admitted, revision)
    }

    package func refundPage(
        _ identifier: String, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let account = try await account(of: identifier, .refunds(identifier, revision: revision), call)
        return page(account.filter { $0.revocationDate != nil }, revision)
    }
}

// MARK: What every answer needs

extension FakeAppStoreGateway {
    /// Notes a question, fails at once if it was told to, and else waits at the gate unless the task is cancelled.
    func ask(_ question: Question, about identifier: String = "", _ call: UpstreamCall) async throws(ServiceError) {
        state.withLock { state in
            state.questions.append(question)
            state.calls.append(call)
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
        }
        defer { state.withLock { $0.underWay -= 1 } }
        let place = "\(call.environment?.rawValue ?? "") \(identifier)"
        if let failure = state.withLock({ $0.failures[identifier] ?? $0.failures[place] }) { throw failure }
        await gate.pass()
        if Task.isCancelled { throw ServiceError(.deadlineExceeded, "cancelled") }
    }

    func account(
        of identifier: String, _ question: Question, _ call: UpstreamCall
    ) async throws(ServiceError) -> [Transaction] {
        try await ask(question, about: identifier, call)
        let account = state.withLock { state in
            state.accounts.first { account in
                account.contains { transaction in
                    [transaction.transactionID, transaction.originalTransactionID, transaction.appTransactionID]
                        .contains(identifier)
                        && (call.environment == nil || call.environment == transaction.environment)
                }
            }
        }
        guard let account else { throw Self.unknown(call) }
        return account
    }

    func page(_ transactions: [Transaction], _ revision: String?) -> TransactionPage {
        let start = revision.flatMap(Int.init) ?? 0
        let end = min(start + pageSize, transactions.count)
        return TransactionPage(
            transactions: Array(transactions[min(start, end)..<end]), revision: String(end),
            hasMore: end < transactions.count, environment: transactions.first?.environment ?? .production)
    }

    static func unknown(_ call: UpstreamCall) -> ServiceError {
        ServiceError(
            .appleRejected, "unknown",
            apple: AppleFailure(
                httpStatus: 404, errorCode: 4_040_010, errorName: "TransactionIdNotFoundError", errorMessage: nil,
                environment: call.environment ?? .sandbox, endpoint: "fake"))
    }
}
