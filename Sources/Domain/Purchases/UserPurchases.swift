package import Foundation

/// Reads a user's purchases and refunds: every Apple Account behind the user's links, whole, verified and attributed.
package struct UserPurchasesService: Sendable {
    /// Bounds of one list.
    package struct Limits: Sendable {
        /// Pages of 20 read from Apple for one account.
        package var pagesPerAccount = 250
        /// Apple Accounts asked at the same time.
        package var concurrentAccounts = 4
        /// Entries of one page of ours, when the caller does not say.
        package var defaultPageSize = 100
        /// The largest page that a caller may ask for.
        package var maximumPageSize = 1000

        package init() {}
    }

    private let links: any LinkStore
    private let accounts: AccountReader
    private let purchases: PurchaseReader
    private let snapshots: SnapshotCache
    private let tokens: PageTokenCoder
    package let limits: Limits
    /// Whether other copies of the daemon may be asked for later pages.
    private let isShared: Bool
    private let now: WallClock
    private let makeSnapshotID: @Sendable () -> String

    /// `isShared`: whether other copies of the daemon may be asked for the pages behind the first; `makeSnapshotID`: makes an id
    /// that cannot be guessed.
    package init(
        gateway: any AppStoreGateway, links: any LinkStore, memory: any TransactionMemory, snapshots: SnapshotCache,
        tokens: PageTokenCoder, limits: Limits = Limits(), isShared: Bool = false, now: @escaping WallClock,
        makeSnapshotID: @escaping @Sendable () -> String
    ) {
        self.links = links
        accounts = AccountReader(
            resolver: AccountResolver(gateway: gateway, memory: memory, maximumPages: limits.pagesPerAccount),
            concurrentCalls: limits.concurrentAccounts)
        purchases = PurchaseReader(gateway: gateway, maximumPages: limits.pagesPerAccount)
        self.snapshots = snapshots
        self.tokens = tokens
        self.limits = limits
        self.isShared = isShared
        self.now = now
        self.makeSnapshotID = makeSnapshotID
    }

    /// What a caller asks for.
    package struct Request: Sendable {
        package let user: UserID
        package let list: UserList
        /// Entries a page, within the limits; nil for the default.
        package let pageSize: Int?
        /// Nil for the first page.
        package let pageToken: String?
        /// Whether parts that fail are reported as gaps instead of failing the whole.
        package let isPartialAllowed: Bool

        package init(user: UserID, list: UserList, pageSize: Int?, pageToken: String?, isPartialAllowed: Bool) {
            self.user = user
            self.list = list
            self.pageSize = pageSize
            self.pageToken = pageToken
            self.isPartialAllowed = isPartialAllowed
        }
    }

    /// One page of a user's list; the first reads Apple, the others a snapshot of what was read.
    ///
    /// - Throws: `noTransactionKnown`, `pageTokenInvalid`, `snapshotExpired`, or what the gateway throws.
    package func page(_ request: Request, _ call: UpstreamCall) async throws(ServiceError) -> UserPurchasesPage {
        let query = Self.canonicalQuery(request, call)
        if let text = request.pageToken {
            let token = try tokens.token(text)
            guard token.query == query else {
                throw ServiceError(
                    .pageTokenInvalid, "This page token belongs to another query; repeat the one it came from.")
            }
            let list =
                if let kept = snapshots.list(id: token.snapshotID) {
                    kept
                } else {
                    try await readAgain(token.snapshotID, request, call)
                }
            return page(of: list, from: token.offset, size: request.pageSize ?? token.pageSize, token.snapshotID, query)
        }
        let list = try await read(request, call)
        let size = request.pageSize ?? limits.defaultPageSize
        guard list.transactions.count > size else {
            return UserPurchasesPage(transactions: list.transactions[...], list: list, nextPageToken: nil)
        }
        let id = isShared ? SharedSnapshotName(id: makeSnapshotID(), of: list).text : makeSnapshotID()
        try snapshots.insert(list, id: id, app: call.app.slug)
        return page(of: list, from: 0, size: size, id, query)
    }

    /// Reads a list that another copy of the daemon has read.
    ///
    /// - Throws: `snapshotExpired` when there is none, its time is over, or Apple has another one now.
    private func readAgain(
        _ id: String, _ request: Request, _ call: UpstreamCall
    ) async throws(ServiceError) -> UserPurchases {
        let gone = ServiceError(
            .snapshotExpired, "The list behind this page token is gone; start again from the first page.")
        guard isShared, let name = SharedSnapshotName(id),
            now() < name.readAt.addingTimeInterval(snapshots.lifetime / .seconds(1))
        else { throw gone }
        let list = try await read(request, call)
        guard name.isOf(list) else { throw gone }
        try snapshots.insert(list, id: id, app: call.app.slug)
        return list
    }

    private func page(
        of list: UserPurchases, from offset: Int, size: Int, _ id: String, _ query: String
    ) -> UserPurchasesPage {
        let start = min(max(offset, 0), list.transactions.count)
        let end = min(start + size, list.transactions.count)
        let next =
            end < list.transactions.count
            ? tokens.text(PageToken(snapshotID: id, offset: end, pageSize: size, query: query)) : nil
        return UserPurchasesPage(transactions: list.transactions[start..<end], list: list, nextPageToken: next)
    }

    /// Everything that makes two requests the same list.
    private static func canonicalQuery(_ request: Request, _ call: UpstreamCall) -> String {
        var text = [call.app.slug, request.user.value, call.environment?.rawValue ?? "", "\(request.isPartialAllowed)"]
        switch request.list {
        case .refunds: text.append("refunds")
        case .transactions(let filter): text += ["transactions", filter.canonicalText]
        }
        return text.map { "\($0.utf8.count):\($0)" }.joined()
    }
}

// MARK: Reading Apple

extension UserPurchasesService {
    private func read(_ request: Request, _ call: UpstreamCall) async throws(ServiceError) -> UserPurchases {
        let own = try await links.links(app: call.app.slug, user: request.user)
        let resolution = try await accounts.accounts(
            of: request.user, own, isPartialAllowed: request.isPartialAllowed, call)
        let reading = try await accounts.ask(
            resolution.accounts.map { AccountReader.Question(part: request.list.part, account: $0) },
            isPartialAllowed: request.isPartialAllowed, call
        ) { [purchases] question, call throws(ServiceError) in
            try await purchases.pages(of: question.account, request.list, call)
        }
        let transactions = reading.answers.flatMap(\.transactions)
        try await accounts.resolver.remember(transactions, app: call.app)
        try await links.learn(from: transactions, app: call.app.slug, at: now())
        let rule = try await OwnerRule.load(for: transactions, app: call.app, asking: request.user, from: links)
        let unique = PurchaseReader.withoutDuplicates(transactions)
        let attributed = unique.filter { rule.isOwner(request.user, of: $0) }
        return UserPurchases(
            transactions: Self.sorted(attributed, by: request.list),
            othersOmitted: unique.count - attributed.count,
            incompleteReason: reading.answers.contains(where: \.isCut) ? purchases.cutReason : nil,
            gaps: resolution.gaps + reading.gaps, readAt: now())
    }

    private static func sorted(_ transactions: [Transaction], by list: UserList) -> [Transaction] {
        transactions.sorted {
            let (left, right) = (list.date(of: $0), list.date(of: $1))
            return left == right ? $0.transactionID > $1.transactionID : left > right
        }
    }
}

/// Which of a user's lists is asked for.
package enum UserList: Sendable, Hashable {
    /// The purchases that Apple refunded, newest refund first.
    case refunds
    /// All purchases that the filter admits, newest purchase first.
    case transactions(HistoryFilter)

    /// What the list is called where a part of it is missing.
    var part: AccountGap.Part {
        switch self {
        case .refunds: .refunds
        case .transactions: .transactions
        }
    }

    /// When an entry happened, as far as the list's order goes.
    func date(of transaction: Transaction) -> Date {
        switch self {
        case .refunds: transaction.revocationDate ?? transaction.purchaseDate
        case .transactions: transaction.purchaseDate
        }
    }
}

/// A user's list as it was read: sorted, without the purchases of others.
package struct UserPurchases: Sendable {
    package let transactions: [Transaction]
    /// How many purchases of the same Apple Accounts belong to other users and were left out.
    package let othersOmitted: Int
    /// Why the list is cut short, if it is.
    package let incompleteReason: String?
    /// The parts that could not be read; empty unless the caller asked for a partial answer.
    package let gaps: [AccountGap]
    /// When Apple was read.
    package let readAt: Date

    package init(
        transactions: [Transaction], othersOmitted: Int, incompleteReason: String?, gaps: [AccountGap],
        readAt: Date
    ) {
        self.transactions = transactions
        self.othersOmitted = othersOmitted
        self.incompleteReason = incompleteReason
        self.gaps = gaps
        self.readAt = readAt
    }
}

/// One page of a user's list.
package struct UserPurchasesPage: Sendable {
    package let transactions: ArraySlice<Transaction>
    package let list: UserPurchases
    package let nextPageToken: String?
}
