package import Foundation

/// Keeps receipts, and those that Apple is still to be asked about.
///
/// Each method is one atomic operation; what it promises is on disk when it returns, and whatever it changes is told in the
/// events of the same operation. Every method throws `storeUnavailable`. Times of day are whole milliseconds, as
/// `ServiceClock` tells them, so that what is returned equals what is read afterwards.
package protocol ReceiptStore: Sendable {
    /// Keeps a receipt, or brings the one of the same digest up to date by `ReceiptRules.update`.
    ///
    /// - Parameter draft: the receipt as it would be if it were new.
    /// - Returns: the receipt as it is now kept.
    /// - Throws: `storeUnavailable`.
    func keep(_ draft: Receipt) async throws(ServiceError) -> Receipt

    /// Records what came of asking Apple about a receipt, by `ReceiptRules`.
    ///
    /// In one operation: the receipt as it then is, the newest signed data of its transactions, the links that it teaches to its
    /// user, and whose cases are the user's by them. Who decides on a delivery asks for its owner anew.
    ///
    /// - Returns: the receipt as it is now kept; nil when it is no more.
    /// - Throws: `storeUnavailable`.
    func conclude(_ conclusion: ReceiptConclusion) async throws(ServiceError) -> Receipt?

    /// Takes receipts that Apple is to be asked about now, those due for the longest first, and makes each due again at the end
    /// of `ReceiptRules.lease`, so that one whose worker died is asked about all the same.
    ///
    /// One that is due further ahead than any wait that we make was put off by a clock that lied, and counts as due.
    ///
    /// - Parameters:
    ///   - now: the time of day.
    ///   - skipped: those of which none is taken.
    ///   - limit: how many are taken of each app and environment, and in all.
    /// - Returns: them, as they are kept.
    /// - Throws: `storeUnavailable`.
    func claimReceipts(
        at now: Date, skipping skipped: Set<AppEnvironment>, limit: (each: Int, all: Int)
    ) async throws(ServiceError) -> [Receipt]

    /// When the next receipt is due; nil when none is waiting.
    func nextReceipt() async throws(ServiceError) -> Date?

    /// A receipt of an app.
    func receipt(app: String, id: String) async throws(ServiceError) -> Receipt?

    /// A page of an app's receipts, latest recorded first, with the position of each.
    ///
    /// It ends early where the receipts would be more than a few megabytes: at least one is there if there are any.
    func receipts(
        app: String, _ query: ReceiptQuery
    ) async throws(ServiceError) -> [(position: Int64, receipt: Receipt)]
}

/// Which receipts a caller wants to see.
package struct ReceiptQuery: Sendable {
    package var user: UserID?
    /// Only those that are fraud, or only those that are not.
    package var isFraud: Bool?
    /// Only those updated at or after this time.
    package var since: Date?
    /// Only those recorded before this position, for the next page.
    package var before: Int64?
    package var limit: Int

    package init(limit: Int = 50) { self.limit = limit }
}

/// What came of asking Apple about a receipt.
package struct ReceiptConclusion: Sendable {
    package enum Outcome: Sendable {
        /// Apple knows it: what Apple says of its account's purchases.
        case known([Transaction])
        /// Apple does not know it in any allowed environment.
        case unknown
        /// Apple says that it is another app's.
        case otherApp
        /// Apple has not answered; when to ask again is said by `nextAttemptAt`.
        case unanswered
    }

    package let app: String
    /// The receipt's id.
    package let id: String
    /// What it says, which is the same for ever.
    package let content: ReceiptContent
    package let outcome: Outcome
    package let at: Date
    /// Whether `at` can be believed, so that what cannot be undone may be decided by it.
    package let isTimeCertain: Bool
    /// When Apple is asked again, should there be a reason.
    package let nextAttemptAt: Date
    /// More users than these make a flag.
    package let usersPerTransaction: Int

    package init(
        _ receipt: Receipt, outcome: Outcome, at: Date, isTimeCertain: Bool, nextAttemptAt: Date,
        usersPerTransaction: Int
    ) {
        app = receipt.app
        id = receipt.id
        content = receipt.content
        self.outcome = outcome
        self.at = at
        self.isTimeCertain = isTimeCertain
        self.nextAttemptAt = nextAttemptAt
        self.usersPerTransaction = usersPerTransaction
    }
}
