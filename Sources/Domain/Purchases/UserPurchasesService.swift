import Foundation

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

    private let gateway: any AppStoreGateway
    private let links: any LinkStore
    private let resolver: AccountResolver
    private let snapshots: SnapshotCache
    private let tokens: PageTokenCoder
    private let limits: Limits
    private let now: WallClock
    private let makeSnapshotID: @Sendable () -> String

    /// `makeSnapshotID`: makes an id that cannot be guessed.
    package init(
        gateway: any AppStoreGateway, links: any LinkStore, memory: any TransactionMemory, snapshots: SnapshotCache,
        tokens: PageTokenCoder, limits: Limits = Limits(), now: @escaping WallClock,
        makeSnapshotID: @escaping @Sendable () -> String
    ) {
        self.gateway = gateway
        self.links = links
        resolver = AccountResolver(gateway: gateway, memory: memory, maximumPages: limits.pagesPerAccount)
        self.snapshots = snapshots
        self.tokens = tokens
        self.limits = limits
        self.now = now
        self.makeSnapshotID = makeSnapshotID
    }

    /// What a caller asks for.
    package struct Request: Sendable {
        package let user: UserID
        package let list: UserList
        /// Entries a page; nil for the default.
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
    /// - Throws: `invalidRequest`, `noTransactionKnown`, `pageTokenInvalid`, `snapshotExpired`, or what the gateway throws.
    package func page(_ request: Request, _ call: UpstreamCall) async throws(ServiceError) -> UserPurchasesPage {
        if let pageSize = request.pageSize, !(1...limits.maximumPageSize).contains(pageSize) {
            throw .invalid([
                Violation(
                    field: "pageSize", rule: "range",
                    message: "`pageSize` is an integer from 1 to \(limits.maximumPageSize).")
            ])
        }
        let query = Self.canonicalQuery(request, call)
        if let text = request.pageToken {
            let token = try tokens.token(text)
            guard token.query == query else {
                throw ServiceError(
                    .pageTokenInvalid, "This page token belongs to another query; repeat the one it came from.")
            }
            guard let list = snapshots.list(id: token.snapshotID) else {
                throw ServiceError(
                    .snapshotExpired, "The list behind this page token is gone; start again from the first page.")
            }
            return page(of: list, from: token.offset, size: request.pageSize ?? token.pageSize, token.snapshotID, query)
        }
        let list = try await read(request, call)
        let size = request.pageSize ?? limits.defaultPageSize
        guard list.transactions.count > size else {
            return UserPurchasesPage(transactions: list.transactions[...], list: list, nextPageToken: nil)
        }
        let id = makeSnapshotID()
        try snapshots.insert(list, id: id)
        return page(of: list, from: 0, size: size, id, query)
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
        var resolution = try await resolver.resolve(own, call)
        guard !resolution.accounts.isEmpty || !resolution.gaps.isEmpty else {
            throw ServiceError(
                .noTransactionKnown,
                "No transaction of user `\(request.user)` is known, and Apple cannot be asked about a user or an `appAccountToken` alone; link a transaction first."
            )
        }
        if let gap = resolution.gaps.first, !request.isPartialAllowed { throw gap.error }
        var transactions: [Transaction] = []
        var cut = false
        for part in await fetch(resolution.accounts, request.list, call) {
            switch part.result {
            case .success(let pages):
                transactions += pages.transactions
                cut = cut || pages.isCut
            case .failure(let error):
                guard request.isPartialAllowed else { throw error }
                resolution.gaps.append(
                    UserPurchasesGap(
                        target: part.account.target, environment: part.account.environment, error: error))
            }
        }
        try await resolver.remember(transactions, app: call.app)
        let rule = try await OwnerRule.load(for: transactions, app: call.app.slug, asking: request.user, from: links)
        let unique = Self.withoutDuplicates(transactions)
        let attributed = unique.filter { rule.owner(of: $0) == request.user }
        return UserPurchases(
            transactions: Self.sorted(attributed, by: request.list),
            othersOmitted: unique.count - attributed.count,
            incompleteReason: cut
                ? "Apple has more than \(limits.pagesPerAccount) pages for one Apple Account; narrow the list with filters."
                : nil,
            gaps: resolution.gaps, readAt: now())
    }

    private struct Part: Sendable {
        let account: AccountResolver.Account
        let result: Result<Pages, ServiceError>
    }

    private struct Pages: Sendable {
        var transactions: [Transaction] = []
        var isCut = false
    }

    /// Asks about each account once, a bounded number at a time, and returns the parts in the accounts' order.
    private func fetch(_ accounts: [AccountResolver.Account], _ list: UserList, _ call: UpstreamCall) async -> [Part] {
        await withTaskGroup(of: (Int, Part).self) { group in
            var parts: [Part?] = Array(repeating: nil, count: accounts.count)
            for (index, account) in accounts.enumerated() {
                if index >= limits.concurrentAccounts, let (done, part) = await group.next() { parts[done] = part }
                group.addTask {
                    do throws(ServiceError) {
                        return (
                            index, Part(account: account, result: .success(try await pages(of: account, list, call)))
                        )
                    } catch {
                        return (index, Part(account: account, result: .failure(error)))
                    }
                }
            }
            for await (done, part) in group { parts[done] = part }
            return parts.compactMap(\.self)
        }
    }

    private func pages(
        of account: AccountResolver.Account, _ list: UserList, _ call: UpstreamCall
    ) async throws(ServiceError) -> Pages {
        let call = account.environment.map(call.in) ?? call
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
            if count == limits.pagesPerAccount {
                pages.isCut = page.hasMore
                break
            }
        }
        return pages
    }

    /// Several transaction ids can denote one purchase; the one that Apple signed last tells its present state.
    private static func withoutDuplicates(_ transactions: [Transaction]) -> [Transaction] {
        var newest: [PurchaseIdentity: Transaction] = [:]
        for transaction in transactions {
            if let other = newest[transaction.purchase], other.signedDate >= transaction.signedDate { continue }
            newest[transaction.purchase] = transaction
        }
        return Array(newest.values)
    }

    private static func sorted(_ transactions: [Transaction], by list: UserList) -> [Transaction] {
        transactions.sorted {
            let (left, right) = (list.date(of: $0), list.date(of: $1))
            return left == right ? $0.transactionID > $1.transactionID : left > right
        }
    }
}
