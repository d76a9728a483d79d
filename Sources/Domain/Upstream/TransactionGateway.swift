/// The calls about single transactions and orders, and the deprecated lists.
///
/// Methods throw what those of `AppStoreGateway` throw, and `outcomeUnknown` when a call that must not be repeated may
/// have reached Apple without our learning what became of it.
package protocol TransactionGateway: Sendable {
    /// Get App Transaction Info: the signed app transaction, decoded.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-app-transaction-info
    func appTransaction(_ identifier: String, _ call: UpstreamCall) async throws(ServiceError) -> AppTransaction

    /// Look Up Order ID; production only.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/look-up-order-id
    func order(_ orderID: String, _ call: UpstreamCall) async throws(ServiceError) -> OrderLookup

    /// Set App Account Token.
    ///
    /// - Parameters:
    ///   - token: a UUID.
    ///   - originalTransactionID: Apple takes no other transaction id.
    ///   - call: for whom and until when.
    /// - Returns: where the transaction was found.
    /// - Throws: as the protocol says.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token
    func setAppAccountToken(
        _ token: String, originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> AppStoreEnvironment

    /// Finish Transaction.
    ///
    /// - Returns: where the transaction was found.
    /// - Throws: as the protocol says.
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/finish-transaction
    func finish(_ transactionID: String, _ call: UpstreamCall) async throws(ServiceError) -> AppStoreEnvironment

    /// One page of Get Transaction History V1 (deprecated).
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history-v1
    func historyPageV1(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage

    /// Get Refund History V1 (deprecated): the 50 latest refunds, unpaged.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi/get-refund-history-v1
    func refundsV1(
        originalTransactionID: String, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage
}

/// A verified app transaction, with the environment it was found in.
package struct AppTransaction: Sendable {
    package let data: VerifiedData
    package let appTransactionID: String?
    package let environment: AppStoreEnvironment

    package init(data: VerifiedData, appTransactionID: String?, environment: AppStoreEnvironment) {
        self.data = data
        self.appTransactionID = appTransactionID
        self.environment = environment
    }
}

/// What Apple knows of an order id.
package struct OrderLookup: Sendable {
    /// Apple's `status`: 0 for an order of this app, 1 for an order id that is not.
    package let status: Int64
    /// The transactions of the order; empty when there are none.
    package let transactions: [Transaction]
    package let environment: AppStoreEnvironment

    /// Whether the order is one of this app's.
    package var isValid: Bool { status == 0 }

    package init(status: Int64, transactions: [Transaction], environment: AppStoreEnvironment) {
        self.status = status
        self.transactions = transactions
        self.environment = environment
    }
}

/// One page of a list that Apple pages by `revision`.
package struct TransactionPage: Sendable {
    package let transactions: [Transaction]
    /// The token of this page; asks for what comes after it.
    package let revision: String?
    package let hasMore: Bool
    package let environment: AppStoreEnvironment

    package init(transactions: [Transaction], revision: String?, hasMore: Bool, environment: AppStoreEnvironment) {
        self.transactions = transactions
        self.revision = revision
        self.hasMore = hasMore
        self.environment = environment
    }
}

/// All pages of a list, one upstream call each, to the end.
///
/// Every page after the first is asked for in the first one's environment. A page that promises more without moving its
/// `revision` would loop for ever and is an `appleAnswerInvalid`.
package struct TransactionPages: AsyncSequence, Sendable {
    package typealias Fetch =
        @Sendable (_ revision: String?, _ call: UpstreamCall) async throws(ServiceError) ->
        TransactionPage

    private let revision: String?
    private let call: UpstreamCall
    private let fetch: Fetch

    package init(from revision: String?, _ call: UpstreamCall, fetch: @escaping Fetch) {
        self.revision = revision
        self.call = call
        self.fetch = fetch
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(revision: revision, call: call, fetch: fetch)
    }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate var revision: String?
        fileprivate var call: UpstreamCall
        fileprivate let fetch: Fetch
        fileprivate var isFinished = false

        fileprivate init(revision: String?, call: UpstreamCall, fetch: @escaping Fetch) {
            self.revision = revision
            self.call = call
            self.fetch = fetch
        }

        package mutating func next(
            isolation actor: isolated (any _Concurrency.Actor)?
        ) async throws(ServiceError) -> TransactionPage? {
            guard !isFinished else { return nil }
            let page = try await fetch(revision, call)
            if page.hasMore, page.revision == nil || page.revision == revision {
                throw ServiceError(
                    .appleAnswerInvalid, "Apple's list does not advance from one page to the next.",
                    cause: "hasMore is true but revision is missing or unchanged")
            }
            isFinished = !page.hasMore
            revision = page.revision
            call = call.in(page.environment)
            return page
        }
    }
}

/// The tokens by which Apple's lists go on: Apple's own text, passed on unchanged.
package enum PagePosition {
    /// The query parameter `revision` of transaction and refund lists, if it is given.
    package static func revision(_ fields: inout FieldReader) -> String? {
        read("revision", AppleErrorName("InvalidRequestRevisionError", 4_000_005), &fields)
    }

    /// The query parameter `paginationToken` of the notification history, if it is given.
    package static func paginationToken(_ fields: inout FieldReader) -> String? {
        read("paginationToken", AppleErrorName("InvalidPaginationTokenError", 4_000_014), &fields)
    }

    private static func read(_ name: String, _ error: AppleErrorName, _ fields: inout FieldReader) -> String? {
        let text = fields.text(name, in: .query)
        if text?.isEmpty == true {
            fields.note(
                name, "length", "`\(name)` must not be empty; leave it out to begin at the first page.", error)
        }
        return text
    }
}
