/// Reads one of an Apple Account's lists to the end.
struct PurchaseReader: Sendable {
    /// What was read of one account.
    struct Pages: Sendable {
        var transactions: [Transaction] = []
        /// Whether Apple has more than we read.
        var isCut = false
    }

    let gateway: any AppStoreGateway
    /// Pages of 20 read from Apple for one account.
    let maximumPages: Int

    /// Why a list is cut short, in the caller's words.
    var cutReason: String {
        "Apple has more than \(maximumPages) pages for one Apple Account; narrow the list with filters."
    }

    func pages(
        of account: AccountResolver.Account, _ list: UserList, _ call: UpstreamCall
    ) async throws(ServiceError) -> Pages {
        let sequence =
            switch list {
            case .refunds: gateway.refunds(account.target.value, call)
            case .transactions(let filter): gateway.history(account.target.value, filter: filter, call)
            }
        var pages = Pages()
        var count = 0
        for try await page in sequence {
            pages.transactions += page.transactions
            count += 1
            if count == maximumPages {
                pages.isCut = page.hasMore
                break
            }
        }
        return pages
    }

    /// Several transaction ids can denote one purchase; the one that Apple signed last tells its present state.
    static func withoutDuplicates(_ transactions: [Transaction]) -> [Transaction] {
        var newest: [PurchaseIdentity: Transaction] = [:]
        for transaction in transactions {
            if let other = newest[transaction.purchase], other.signedDate >= transaction.signedDate { continue }
            newest[transaction.purchase] = transaction
        }
        return Array(newest.values)
    }
}
