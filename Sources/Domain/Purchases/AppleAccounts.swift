/// Asks Apple about the Apple Accounts behind a user's links: each account once, a bounded number of calls at a time.
struct AccountReader: Sendable {
    /// One question about one account.
    struct Question: Sendable {
        let part: AccountGap.Part
        let account: AccountResolver.Account
    }

    /// The answers, in the order of the questions, and the questions that have none.
    struct Reading<Answer: Sendable>: Sendable {
        var answers: [Answer] = []
        var gaps: [AccountGap] = []
    }

    /// What a question came to that did not fail.
    private enum Outcome<Answer: Sendable>: Sendable {
        case answer(Answer)
        /// Apple does not know the identifier; nil where that is no fault of the link.
        case unknown(AccountGap?)
    }

    let resolver: AccountResolver
    let concurrentCalls: Int

    /// The Apple Accounts that the links of a user lead to; none where all of them are of another environment than the call's.
    ///
    /// - Throws: `noTransactionKnown`, what the store throws, and what the gateway throws unless `isPartialAllowed`.
    func accounts(
        of user: UserID, _ links: [Link], isPartialAllowed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> AccountResolver.Resolution {
        guard links.contains(where: \.leadsToApple) else {
            throw ServiceError(
                .noTransactionKnown,
                "No transaction of user `\(user)` is known, and Apple cannot be asked about a user or an `appAccountToken` alone; link a transaction first."
            )
        }
        return try await resolver.resolve(links, isPartialAllowed: isPartialAllowed, call)
    }

    /// Puts all questions, each in its account's environment where that is known.
    ///
    /// An identifier that Apple does not know fails nothing: it is a gap of its own, one however many questions were put.
    ///
    /// - Throws: the first failure, unless `isPartialAllowed`.
    func ask<Answer: Sendable>(
        _ questions: [Question], isPartialAllowed: Bool, _ call: UpstreamCall,
        _ answer: @escaping @Sendable (Question, UpstreamCall) async throws(ServiceError) -> Answer
    ) async throws(ServiceError) -> Reading<Answer> {
        let results = try await FanOut.results(
            of: questions, atMost: concurrentCalls, isPartialAllowed: isPartialAllowed
        ) { [resolver] question throws(ServiceError) -> Outcome<Answer> in
            let account = question.account
            do throws(ServiceError) {
                return .answer(try await answer(question, account.environment.map(call.in) ?? call))
            } catch {
                guard account.leadsNowhere(error, call) else {
                    throw isPartialAllowed ? error : error.asked(about: account.target)
                }
                return .unknown(try await resolver.gap(of: account, unknown: error, call))
            }
        }
        var reading = Reading<Answer>()
        var unknown: Set<LinkTarget> = []
        for (question, result) in zip(questions, results) {
            switch result {
            case .success(.answer(let answer)): reading.answers.append(answer)
            case .success(.unknown(let gap)):
                guard let gap, unknown.insert(gap.target).inserted else { continue }
                reading.gaps.append(gap)
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
        /// The one to ask; nil until Apple has been asked.
        let environment: AppStoreEnvironment?
        /// The one that the link was declared for; nil where it names none.
        var declared: AppStoreEnvironment?
        /// Whether the link has ended, so that nobody needs to hear what is wrong with it.
        var isEnded = false

        /// Whether a question about an environment is about this; a link for the other one can only be a mistake.
        func isAsked(in environment: AppStoreEnvironment?) -> Bool {
            declared == nil || environment == nil || declared == environment
        }

        /// Whether a failure says that nothing is to be found by this where it was asked, which is no failure of the whole.
        ///
        /// Of an app without a release nothing can be in Production: a link that says so is wrong, unless all was asked there.
        fileprivate func leadsNowhere(_ error: ServiceError, _ call: UpstreamCall) -> Bool {
            if error.isUnknownIdentifier { return true }
            return error.reason == .noProductionRelease && declared != nil && call.environment == nil
        }
    }

    /// The accounts found, and the links whose account could not be found out.
    struct Resolution: Sendable {
        var accounts: [Account] = []
        var gaps: [AccountGap] = []

        /// Adds a gap, if there is one.
        mutating func note(_ gap: AccountGap?) {
            if let gap { gaps.append(gap) }
        }
    }

    /// What is remembered of an identifier.
    private enum Finding {
        case account(Account)
        /// Apple has to be asked whose it is.
        case open
        /// It is known, in another environment only.
        case elsewhere(AppStoreEnvironment)
    }

    /// Earlier answers by what they are about.
    private typealias Known = [String: Set<KnownIdentifier>]

    let gateway: any AppStoreGateway
    let memory: any TransactionMemory
    let maximumPages: Int

    /// One entry for each Apple Account that the links lead to.
    ///
    /// A link whose account is known from earlier answers costs nothing, nor does a single link: whatever is asked about it
    /// tells of its whole account. Of several unknown ones, one is asked for its history, which names every other purchase
    /// of the same account, and so on until none is left. Links that lead nowhere are gaps, and hide nothing of the others.
    ///
    /// - Throws: what the memory throws, and what the gateway throws unless `isPartialAllowed`.
    func resolve(
        _ links: [Link], isPartialAllowed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> Resolution {
        let anchors = Self.anchors(links, in: call.environment)
        var known = Known(
            grouping: try await memory.known(app: call.app.slug, identifiers: Set(anchors.map(\.target.value))))
        var resolution = Resolution()
        var found: [String: Set<AppStoreEnvironment?>] = [:]
        var open: [Account] = []
        func add(_ account: Account) {
            let places = found[account.target.value, default: []]
            let isSame = places.contains(account.environment) || places.contains(nil) || account.environment == nil
            guard places.isEmpty || !isSame else { return }
            found[account.target.value, default: []].insert(account.environment)
            resolution.accounts.append(account)
        }
        for anchor in anchors {
            switch Self.find(anchor, known) {
            case .elsewhere(let environment): resolution.note(.misplaced(anchor, environment))
            case .account(let account): if anchor.isAsked(in: call.environment) { add(account) }
            case .open: if anchor.isAsked(in: call.environment) { open.append(anchor) }
            }
        }
        if open.count == 1, resolution.accounts.isEmpty {
            resolution.accounts = open
            return resolution
        }
        while let anchor = open.first {
            do throws(ServiceError) {
                let entries = try await learn(
                    anchor.target, anchor.environment.map(call.in) ?? call, pages: maximumPages)
                known.merge(Known(grouping: entries)) { $0.union($1) }
                if case .account(let account) = Self.find(anchor, known) {
                    add(account)
                } else {
                    // An account that Apple does not name stands under the identifier by which it was asked.
                    add(
                        Account(
                            target: anchor.target, environment: entries.first?.environment ?? anchor.environment,
                            declared: anchor.declared, isEnded: anchor.isEnded))
                }
                let together = Set(entries.map(\.identifier))
                open.removeFirst()
                for other in open where together.contains(other.target.value) {
                    guard case .elsewhere(let environment) = Self.find(other, known) else { continue }
                    resolution.note(.misplaced(other, environment))
                }
                open.removeAll { together.contains($0.target.value) }
            } catch {
                open.removeFirst()
                if anchor.leadsNowhere(error, call) {
                    resolution.note(try await gap(of: anchor, unknown: error, call))
                } else if isPartialAllowed {
                    resolution.note(
                        AccountGap(part: .account, target: anchor.target, environment: anchor.environment, error: error)
                    )
                } else {
                    throw error.asked(about: anchor.target)
                }
            }
        }
        return resolution
    }

    /// What it means that Apple does not know an identifier where it was asked.
    ///
    /// - Returns: the gap of the link; nil where the link has ended, and where the identifier belongs to another environment
    ///   than the call's, for which the link was not declared either.
    /// - Throws: what the memory throws.
    func gap(
        of account: Account, unknown error: ServiceError, _ call: UpstreamCall
    ) async throws(ServiceError) -> AccountGap? {
        guard !account.isEnded else { return nil }
        let nowhere = AccountGap(part: .account, target: account.target, environment: account.environment, error: error)
        guard let asked = account.environment, account.declared != nil || call.environment != nil else {
            return nowhere
        }
        for other in call.app.environments where other != asked {
            do throws(ServiceError) {
                _ = try await learn(account.target, call.in(other), pages: 1)
                return .misplaced(account, other)
            } catch {
                // In the environment that was asked for there is nothing; whether there is elsewhere was not the question.
                let isKnownToBeNothing = error.isUnknownIdentifier || error.reason == .noProductionRelease
                guard isKnownToBeNothing || account.declared != nil else { return nil }
            }
        }
        return nowhere
    }

    /// Records which identifiers belong together, and where.
    func remember(_ transactions: [Transaction], app: App) async throws(ServiceError) {
        try await memory.remember(KnownIdentifier.all(of: transactions), app: app.slug)
    }

    private func learn(
        _ target: LinkTarget, _ call: UpstreamCall, pages maximum: Int
    ) async throws(ServiceError) -> [KnownIdentifier] {
        var transactions: [Transaction] = []
        var pages = gateway.history(target.value, filter: HistoryFilter(), call).makeAsyncIterator()
        var count = 0
        while count < maximum, let page = try await pages.next(isolation: #isolation) {
            transactions += page.transactions
            count += 1
        }
        try await remember(transactions, app: call.app)
        return KnownIdentifier.all(of: transactions)
    }

    private static func find(_ anchor: Account, _ known: Known) -> Finding {
        let isAccount = anchor.target.kind == .appTransactionId
        var entries = known[anchor.target.value] ?? []
        if isAccount {
            entries.formUnion(known.values.joined().filter { $0.appTransactionID == anchor.target.value })
        }
        let entry = entries.first { anchor.environment == nil || anchor.environment == $0.environment }
        if entry == nil, let other = entries.first { return .elsewhere(other.environment) }
        if isAccount {
            return .account(
                Account(
                    target: anchor.target, environment: entry?.environment ?? anchor.environment,
                    declared: anchor.declared, isEnded: anchor.isEnded))
        }
        guard let entry, let identifier = entry.appTransactionID else { return .open }
        return .account(Account(target: LinkTarget(.appTransactionId, identifier), environment: entry.environment))
    }

    /// The identifiers of a user that Apple can be asked about, each once an environment, links in force first.
    private static func anchors(_ links: [Link], in environment: AppStoreEnvironment?) -> [Account] {
        var seen: Set<Account> = []
        let links = links.filter(\.leadsToApple)
        return (links.filter(\.isInForce) + links.filter { !$0.isInForce }).compactMap { link in
            var anchor = Account(
                target: link.target, environment: link.environment ?? environment, declared: link.environment)
            guard seen.insert(anchor).inserted else { return nil }
            anchor.isEnded = !link.isInForce
            return anchor
        }
    }
}

extension Link {
    /// Whether Apple can be asked about the user by this link.
    ///
    /// An original transaction whose link has ended still counts: what was bought before the end stays the user's.
    var leadsToApple: Bool { target.isAskable && (isInForce || target.kind == .originalTransactionId) }
}

extension [String: Set<KnownIdentifier>] {
    /// Earlier answers by what they are about.
    fileprivate init(grouping entries: [KnownIdentifier]) {
        self = [:]
        for entry in entries { self[entry.identifier, default: []].insert(entry) }
    }
}
