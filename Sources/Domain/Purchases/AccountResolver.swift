/// Finds the Apple Accounts behind a user's links, so that Apple is asked once for each account and not once for each link.
struct AccountResolver: Sendable {
    /// One identifier that stands for a whole Apple Account.
    struct Account: Sendable, Hashable {
        let target: LinkTarget
        /// Nil until Apple has been asked.
        let environment: AppStoreEnvironment?
    }

    /// The accounts found, and the links whose account could not be found out.
    struct Resolution: Sendable {
        var accounts: [Account] = []
        var gaps: [AccountGap] = []
    }

    let gateway: any AppStoreGateway
    let memory: any TransactionMemory
    let maximumPages: Int

    /// One entry for each Apple Account that the links lead to.
    ///
    /// A link whose account is known from earlier answers costs nothing, nor does a single link: whatever is asked about it
    /// tells of its whole account. Of several unknown ones, one is asked for its history, which names every other purchase
    /// of the same account, and so on until none is left.
    ///
    /// - Throws: what the memory throws, and what the gateway throws unless `isPartialAllowed`.
    func resolve(
        _ links: [Link], isPartialAllowed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> Resolution {
        let anchors = Self.anchors(links, in: call.environment)
        var known = Dictionary(
            try await memory.known(app: call.app.slug, identifiers: Set(anchors.map(\.target.value)))
                .map { ($0.identifier, $0) }
        ) { first, _ in first }
        var resolution = Resolution()
        var found: Set<String> = []
        var open: [Account] = []
        func add(_ account: Account) {
            if found.insert(account.target.value).inserted { resolution.accounts.append(account) }
        }
        for anchor in anchors {
            if let account = Self.account(of: anchor, known) { add(account) } else { open.append(anchor) }
        }
        if open.count == 1, resolution.accounts.isEmpty { return Resolution(accounts: open) }
        while let anchor = open.first {
            do {
                let entries = try await learn(anchor, call)
                known.merge(entries.map { ($0.identifier, $0) }) { _, new in new }
                // An account that Apple does not name stands under the identifier by which it was asked.
                add(
                    Self.account(of: anchor, known)
                        ?? Account(target: anchor.target, environment: entries.first?.environment ?? anchor.environment)
                )
                let together = Set(entries.map(\.identifier))
                open.removeAll { $0 == anchor || together.contains($0.target.value) }
            } catch {
                guard isPartialAllowed else { throw error }
                resolution.gaps.append(
                    AccountGap(part: .account, target: anchor.target, environment: anchor.environment, error: error))
                open.removeFirst()
            }
        }
        return resolution
    }

    /// Records which identifiers belong together, and where.
    func remember(_ transactions: [Transaction], app: App) async throws(ServiceError) {
        try await memory.remember(Self.entries(transactions), app: app.slug)
    }

    private func learn(_ anchor: Account, _ call: UpstreamCall) async throws(ServiceError) -> [KnownIdentifier] {
        let call = anchor.environment.map(call.in) ?? call
        var transactions: [Transaction] = []
        var pages = gateway.history(anchor.target.value, filter: HistoryFilter(), call).makeAsyncIterator()
        var count = 0
        while count < maximumPages, let page = try await pages.next(isolation: #isolation) {
            transactions += page.transactions
            count += 1
        }
        try await remember(transactions, app: call.app)
        return Self.entries(transactions)
    }

    private static func entries(_ transactions: [Transaction]) -> [KnownIdentifier] {
        var entries: Set<KnownIdentifier> = []
        for transaction in transactions {
            for identifier in [transaction.transactionID, transaction.originalTransactionID] {
                entries.insert(
                    KnownIdentifier(
                        identifier: identifier, environment: transaction.environment,
                        appTransactionID: transaction.appTransactionID))
            }
        }
        return entries.sorted { $0.identifier < $1.identifier }
    }

    private static func account(of anchor: Account, _ known: [String: KnownIdentifier]) -> Account? {
        if anchor.target.kind == .appTransactionId {
            let told = known.values.first { $0.appTransactionID == anchor.target.value }
            return Account(target: anchor.target, environment: anchor.environment ?? told?.environment)
        }
        guard let entry = known[anchor.target.value], let identifier = entry.appTransactionID else { return nil }
        return Account(target: LinkTarget(.appTransactionId, identifier), environment: entry.environment)
    }

    /// The identifiers of a user that Apple can be asked about.
    ///
    /// An original transaction whose link has ended still counts: what was bought before the end stays the user's.
    private static func anchors(_ links: [Link], in environment: AppStoreEnvironment?) -> [Account] {
        var seen: Set<LinkTarget> = []
        return links.compactMap { link in
            guard link.target.isAskable, link.isInForce || link.target.kind == .originalTransactionId,
                link.covers(environment), seen.insert(link.target).inserted
            else { return nil }
            return Account(target: link.target, environment: link.environment ?? environment)
        }
    }
}
