/// Asks Apple about the Apple Accounts behind a user's links: each account once, a bounded number of calls at a time.
struct AccountReader: Sendable {
    /// One question about one account.
    struct Question: Sendable {
        let part: AccountGap.Part
        let account: AccountResolver.Account
    }

    /// The answers, in the order of the questions, and the questions that failed.
    struct Reading<Answer: Sendable>: Sendable {
        var answers: [Answer] = []
        var gaps: [AccountGap] = []
    }

    let resolver: AccountResolver
    let concurrentCalls: Int

    /// The Apple Accounts that the links of a user lead to.
    ///
    /// - Throws: `noTransactionKnown`, what the store throws, and what the gateway throws unless `isPartialAllowed`.
    func accounts(
        of user: UserID, _ links: [Link], isPartialAllowed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> AccountResolver.Resolution {
        let resolution = try await resolver.resolve(links, isPartialAllowed: isPartialAllowed, call)
        guard !resolution.accounts.isEmpty || !resolution.gaps.isEmpty else {
            throw ServiceError(
                .noTransactionKnown,
                "No transaction of user `\(user)` is known, and Apple cannot be asked about a user or an `appAccountToken` alone; link a transaction first."
            )
        }
        return resolution
    }

    /// Puts all questions, each in its account's environment where that is known.
    ///
    /// - Throws: the first failure, unless `isPartialAllowed`.
    func ask<Answer: Sendable>(
        _ questions: [Question], isPartialAllowed: Bool, _ call: UpstreamCall,
        _ answer: @escaping @Sendable (Question, UpstreamCall) async throws(ServiceError) -> Answer
    ) async throws(ServiceError) -> Reading<Answer> {
        let results = try await FanOut.results(
            of: questions, atMost: concurrentCalls, isPartialAllowed: isPartialAllowed
        ) { question throws(ServiceError) in
            try await answer(question, question.account.environment.map(call.in) ?? call)
        }
        var reading = Reading<Answer>()
        for (question, result) in zip(questions, results) {
            switch result {
            case .success(let answer): reading.answers.append(answer)
            case .failure(let error):
                reading.gaps.append(
                    AccountGap(
                        part: question.part, target: question.account.target,
                        environment: question.account.environment, error: error))
            }
        }
        return reading
    }
}

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

/// A part of an answer about a user that could not be read.
package struct AccountGap: Sendable {
    /// What was asked.
    package enum Part: String, Sendable, Hashable {
        /// Which Apple Account an identifier belongs to.
        case account
        case transactions
        case refunds
        case subscriptions
    }

    package let part: Part
    /// The identifier by which Apple was asked.
    package let target: LinkTarget
    package let environment: AppStoreEnvironment?
    package let error: ServiceError

    package init(part: Part, target: LinkTarget, environment: AppStoreEnvironment?, error: ServiceError) {
        self.part = part
        self.target = target
        self.environment = environment
        self.error = error
    }
}
