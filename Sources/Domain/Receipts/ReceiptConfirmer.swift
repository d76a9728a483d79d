import Foundation
import Logging

/// Asks Apple about receipts: at once when one comes, and again as long as Apple has not answered.
///
/// The store is the queue: a receipt that is due stays due until an answer is recorded, so that nothing is lost with the process.
package final class ReceiptConfirmer: Sendable {
    /// How many of the queue are asked about at the same time.
    static let concurrency = 4
    /// How many are taken from the queue at once, of one app and environment and in all.
    static let batch = (each: 4, all: 16)
    /// How long a question from the queue may take.
    static let patience = Duration.seconds(30)
    /// How long nobody of an app and environment is asked about after Apple did not answer about one, at least.
    static let pause = Duration.seconds(30)
    /// The longest wait without a look at the queue.
    static let idlePause = Duration.seconds(60)

    private let inquiry: ReceiptInquiry
    private let store: any ReceiptStore
    private let apps: AppCatalog
    private let policy: ReceiptPolicy
    private let clock: ServiceClock
    private let logger: Logger
    private let backoff: DeliveryBackoff
    private let signal = WakeSignal()

    init(
        gateway: any AppStoreGateway, store: any ReceiptStore, apps: AppCatalog, policy: ReceiptPolicy,
        clock: ServiceClock, logger: Logger
    ) {
        inquiry = ReceiptInquiry(gateway: gateway)
        self.store = store
        self.apps = apps
        self.policy = policy
        self.clock = clock
        self.logger = logger
        backoff = DeliveryBackoff(base: .seconds(30), cap: ReceiptRules.longestWait)
    }

    /// Asks Apple about a receipt that has just come, and records the answer.
    ///
    /// Whatever goes wrong, the receipt is in the queue.
    func confirm(_ receipt: Receipt, app: App, caller: String) async -> ReceiptAnswer {
        let call = UpstreamCall(
            app: app, environment: nil, deadline: clock.monotonicNow() + policy.wait, caller: caller)
        do throws(ServiceError) {
            let answer = try await ask(receipt, call).receipt ?? receipt
            // What Apple does not know yet is asked for again.
            return answer.nextAttemptAt == nil ? .confirmed(answer) : .queued(answer)
        } catch {
            logger.tell(
                "What Apple says of a receipt could not be recorded; Apple is asked again", error,
                ["app": "\(app.slug)", "receipt": "\(receipt.id)"])
            return .queued(receipt)
        }
    }

    /// Asks Apple and records what came of it.
    private func ask(
        _ receipt: Receipt, _ call: UpstreamCall
    ) async throws(ServiceError) -> (receipt: Receipt?, failure: ServiceError?) {
        let finding = await inquiry.ask(about: receipt, call)
        let now = clock.now()
        let kept = try await store.conclude(
            ReceiptConclusion(
                receipt, outcome: finding.outcome, at: now, isTimeCertain: clock.isCertain,
                nextAttemptAt: now.advanced(by: wait(after: receipt.attempts, finding.failure)),
                usersPerTransaction: policy.usersPerTransaction))
        if kept?.nextAttemptAt != nil { signal.wake() }
        return (kept, finding.failure)
    }

    private func wait(after attempts: Int, _ failure: ServiceError?) -> Duration {
        let asked = failure?.retryAfter.map { min($0, ReceiptRules.longestWait) }
        return backoff.delay(
            after: attempts + 1, notBefore: asked, atLeast: .seconds(5), remaining: ReceiptRules.longestWait * 2)
            ?? ReceiptRules.longestWait
    }
}

// MARK: The queue

extension ReceiptConfirmer {
    /// Asks Apple about what is due, until the task is cancelled.
    ///
    /// To be called once.
    package func run() async {
        var paused: [AppEnvironment: ContinuousClock.Instant] = [:]
        while !Task.isCancelled {
            let instant = clock.monotonicNow()
            paused = paused.filter { $0.value > instant }
            var isIdle = true
            do throws(ServiceError) {
                isIdle = try await work(&paused) == 0
            } catch {
                logger.tell("Receipts that wait for Apple could not be read or recorded; they are tried again", error)
            }
            if isIdle { await signal.wait(atMost: await rest(), by: clock) }
        }
    }

    /// Asks about what is due now.
    ///
    /// - Returns: how many that were.
    private func work(
        _ paused: inout [AppEnvironment: ContinuousClock.Instant]
    ) async throws(ServiceError) -> Int {
        let due = try await store.claimReceipts(
            at: clock.now(), skipping: Set(paused.keys), limit: Self.batch)
        let results = try await FanOut.results(of: due, atMost: Self.concurrency, isPartialAllowed: true) {
            [self] receipt throws(ServiceError) -> Duration? in
            guard let app = try? apps.app(receipt.app) else { return ReceiptRules.longestWait }
            let call = UpstreamCall(
                app: app, environment: nil, deadline: clock.monotonicNow() + Self.patience, priority: .background)
            let failure = try await ask(receipt, call).failure
            return failure.map { max($0.retryAfter ?? .zero, Self.pause) }
        }
        for (receipt, result) in zip(due, results) {
            guard let pause = try result.get() else { continue }
            let place = AppEnvironment(app: receipt.app, environment: receipt.environment)
            paused[place] = clock.monotonicNow() + min(pause, ReceiptRules.longestWait)
        }
        return due.count
    }

    /// How long there is nothing to do.
    private func rest() async -> Duration {
        guard let due = try? await store.nextReceipt() else { return Self.idlePause }
        return min(max(clock.remaining(until: due), .seconds(1)), Self.idlePause)
    }
}

/// Asks Apple whether it knows what a receipt says.
///
/// By Get Transaction History: one call tells of the whole Apple Account, as far as its pages reach.
struct ReceiptInquiry: Sendable {
    /// What came of it, and why Apple did not answer, if it did not.
    struct Finding: Sendable {
        var outcome: ReceiptConclusion.Outcome
        var failure: ServiceError?
    }

    /// The most pages of 20 that are read of one Apple Account.
    static let maximumPages = ReceiptRules.maximumApplePurchases / 20

    let gateway: any AppStoreGateway

    /// Asks until Apple knows one of the transactions, in the environment that the receipt names first.
    func ask(about receipt: Receipt, _ call: UpstreamCall) async -> Finding {
        let environments = ReceiptRules.environments(of: receipt, app: call.app)
        var isElsewhere = false
        var failure: ServiceError?
        for environment in environments {
            for identifier in ReceiptRules.questions(about: receipt.content) {
                do throws(ServiceError) {
                    let known = try await history(of: identifier, receipt.content, call.in(environment))
                    return Finding(outcome: .known(known))
                } catch {
                    if error.isOfAnotherApp {
                        isElsewhere = true
                    } else if !error.isUnknownIdentifier, !isWithoutRelease(error, receipt, environment) {
                        failure = failure ?? error
                        // Where it says that it is, nobody can tell; and whatever else is asked there would fail alike.
                        if environment == receipt.content.environment {
                            return Finding(outcome: .unanswered, failure: error)
                        }
                        break
                    }
                }
            }
        }
        if isElsewhere { return Finding(outcome: .otherApp) }
        if let failure { return Finding(outcome: .unanswered, failure: failure) }
        return Finding(outcome: environments.isEmpty ? .unanswered : .unknown)
    }

    /// Whether nothing of the app can be where it was asked: only what Apple has signed can say otherwise.
    private func isWithoutRelease(
        _ error: ServiceError, _ receipt: Receipt, _ environment: AppStoreEnvironment
    ) -> Bool {
        let isProvenToBeThere = receipt.content.isVerified && receipt.content.environment == environment
        return error.reason == .noProductionRelease && !isProvenToBeThere
    }

    /// The account's transactions, newest first, until all of the receipt's are among them or the pages reach their bound.
    private func history(
        of identifier: String, _ content: ReceiptContent, _ call: UpstreamCall
    ) async throws(ServiceError) -> [Transaction] {
        // What nobody has signed is held against its own transaction.
        if content.style == .transaction { return [try await gateway.transaction(identifier, call)] }
        var filter = HistoryFilter()
        filter.sort = .descending
        var missing = Set(content.purchases.compactMap(\.transactionID))
        var transactions: [Transaction] = []
        var pages = gateway.history(identifier, filter: filter, call).makeAsyncIterator()
        for _ in 0..<Self.maximumPages {
            let page: TransactionPage?
            do throws(ServiceError) {
                page = try await pages.next(isolation: #isolation)
            } catch {
                // That Apple knows the account is certain by now; the rest is heard of with the next upload.
                guard transactions.isEmpty else { break }
                throw error
            }
            guard let page else { break }
            transactions += page.transactions
            missing.subtract(page.transactions.map(\.transactionID))
            if missing.isEmpty { break }
        }
        return transactions
    }
}
