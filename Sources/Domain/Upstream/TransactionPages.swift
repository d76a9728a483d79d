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
            isolation actor: isolated (any Actor)?
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
