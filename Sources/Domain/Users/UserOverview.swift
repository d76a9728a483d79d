package import Foundation

/// Gathers what is known of a user: links from the store, subscriptions and refunds from Apple, all accounts at once.
package struct UserOverviewService: Sendable {
    /// What a subscription must be to entitle a user now.
    private static let activeStatuses: [SubscriptionStatus] = [.active, .billingGracePeriod]

    private enum Answer: Sendable {
        case subscriptions(SubscriptionStatuses)
        case refunds(PurchaseReader.Pages)
    }

    private let gateway: any SubscriptionGateway
    private let links: any LinkStore
    private let accounts: AccountReader
    private let purchases: PurchaseReader
    private let now: WallClock

    package init(
        gateway: any AppStoreGateway & SubscriptionGateway, links: any LinkStore, memory: any TransactionMemory,
        limits: UserPurchasesService.Limits = UserPurchasesService.Limits(), now: @escaping WallClock
    ) {
        self.gateway = gateway
        self.links = links
        accounts = AccountReader(
            resolver: AccountResolver(gateway: gateway, memory: memory, maximumPages: limits.pagesPerAccount),
            concurrentCalls: limits.concurrentAccounts)
        purchases = PurchaseReader(gateway: gateway, maximumPages: limits.pagesPerAccount)
        self.now = now
    }

    /// The overview of a user.
    ///
    /// A user of whom no transaction is known has one too: of links, and without what only Apple could tell. Apple is asked
    /// only for the parts that are wanted.
    ///
    /// - Parameters:
    ///   - user: whose.
    ///   - parts: what of it; consent and cases are not this service's.
    ///   - isPartialAllowed: whether parts that fail are reported as gaps instead of failing the whole.
    ///   - call: for whom and until when.
    /// - Returns: the overview.
    /// - Throws: what the gateway or a store throws.
    package func overview(
        of user: UserID, parts: Set<UserOverview.Part>, isPartialAllowed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> UserOverview {
        let questions = parts.compactMap(\.question)
        guard parts.contains(.links) || !questions.isEmpty else { return UserOverview(readAt: now()) }
        let own = try await links.links(app: call.app.slug, user: user)
        var overview = UserOverview(readAt: now())
        if parts.contains(.links) { overview.links = own }
        guard !questions.isEmpty else { return overview }
        do throws(ServiceError) {
            let resolution = try await accounts.accounts(of: user, own, isPartialAllowed: isPartialAllowed, call)
            let reading = try await ask(
                questions, about: resolution.accounts, isPartialAllowed: isPartialAllowed, call)
            overview.apple = try await apple(of: user, parts, resolution, reading, call)
        } catch {
            guard error.reason == .noTransactionKnown else { throw error }
            overview.apple = UserOverview.Apple(parts, incompleteReason: error.message)
        }
        overview.readAt = now()
        return overview
    }

    /// So many questions an account, all under one bound and one deadline.
    private func ask(
        _ parts: [AccountGap.Part], about accounts: [AccountResolver.Account], isPartialAllowed: Bool,
        _ call: UpstreamCall
    ) async throws(ServiceError) -> AccountReader.Reading<Answer> {
        let questions = accounts.flatMap { account in
            parts.map { AccountReader.Question(part: $0, account: account) }
        }
        return try await self.accounts.ask(questions, isPartialAllowed: isPartialAllowed, call) {
            [gateway, purchases] question, call throws(ServiceError) in
            if question.part == .refunds {
                return .refunds(try await purchases.pages(of: question.account, .refunds, call))
            }
            return .subscriptions(
                try await gateway.subscriptionStatuses(
                    question.account.target.value, statuses: Self.activeStatuses, call))
        }
    }

    private func apple(
        of user: UserID, _ parts: Set<UserOverview.Part>, _ resolution: AccountResolver.Resolution,
        _ reading: AccountReader.Reading<Answer>, _ call: UpstreamCall
    ) async throws(ServiceError) -> UserOverview.Apple {
        var subscriptions: [GroupedSubscription] = []
        var refunds: [Transaction] = []
        var isCut = false
        for answer in reading.answers {
            switch answer {
            case .subscriptions(let statuses): subscriptions += statuses.subscriptions
            case .refunds(let pages):
                refunds += pages.transactions
                isCut = isCut || pages.isCut
            }
        }
        subscriptions = subscriptions.withoutDuplicates()
        refunds = PurchaseReader.withoutDuplicates(refunds)
        let transactions = subscriptions.map(\.subscription.transaction) + refunds
        try await accounts.resolver.remember(transactions, app: call.app)
        try await links.learn(from: transactions, app: call.app.slug, at: now())
        let rule = try await OwnerRule.load(for: transactions, app: call.app, asking: user, from: links)
        let active = subscriptions.filter { rule.isOwner(user, of: $0.subscription.transaction) }
        let refundCount = refunds.count { rule.isOwner(user, of: $0) }
        var apple = UserOverview.Apple(parts, incompleteReason: isCut ? purchases.cutReason : nil)
        apple.accounts = resolution.accounts.map {
            UserOverview.Account(target: $0.target, environment: $0.environment)
        }
        if parts.contains(.activeSubscriptions) { apple.activeSubscriptions = active }
        if parts.contains(.refundCount) { apple.refundCount = refundCount }
        apple.othersOmitted = transactions.count - active.count - refundCount
        apple.gaps = resolution.gaps + reading.gaps
        return apple
    }
}

/// What is known of a user at a glance.
package struct UserOverview: Sendable {
    /// What an overview is made of; the raw values are the members of our API.
    package enum Part: String, Sendable, CaseIterable {
        case links
        case consent
        case openCases
        case activeSubscriptions
        case refundCount

        /// The scope of the route that shows the same.
        package var scope: Scope {
            switch self {
            case .links: .linksRead
            case .consent: .consentRead
            case .openCases: .consumptionRead
            case .activeSubscriptions: .transactionsRead
            case .refundCount: .refundsRead
            }
        }

        /// What Apple is asked for it.
        fileprivate var question: AccountGap.Part? {
            switch self {
            case .links, .consent, .openCases: nil
            case .activeSubscriptions: .subscriptions
            case .refundCount: .refunds
            }
        }
    }

    /// The scopes of all parts.
    package static let scopes = Part.allCases.map(\.scope)

    /// An Apple Account that the user's links lead to.
    package struct Account: Sendable, Hashable {
        /// The identifier by which Apple is asked about it: its `appTransactionId` where that is known.
        package let target: LinkTarget
        /// Nil as long as it is not known.
        package let environment: AppStoreEnvironment?
    }

    /// What Apple was asked.
    package struct Apple: Sendable {
        package fileprivate(set) var accounts: [Account] = []
        /// Those that entitle the user now: active, or in the billing grace period; latest purchase first.
        ///
        /// Nil where they were not asked for.
        package fileprivate(set) var activeSubscriptions: [GroupedSubscription]?
        /// How many of the user's purchases Apple has refunded or revoked; nil where that was not asked for.
        package fileprivate(set) var refundCount: Int?
        /// How many subscriptions and refunded purchases of the same Apple Accounts belong to other users.
        package fileprivate(set) var othersOmitted = 0
        /// Why the counts may be too low, if they may.
        package let incompleteReason: String?
        /// The parts that could not be read: links that lead nowhere, and what failed if the caller asked for a partial answer.
        package fileprivate(set) var gaps: [AccountGap] = []

        /// Nothing yet of the parts that are asked for.
        fileprivate init(_ parts: Set<Part>, incompleteReason: String?) {
            activeSubscriptions = parts.contains(.activeSubscriptions) ? [] : nil
            refundCount = parts.contains(.refundCount) ? 0 : nil
            self.incompleteReason = incompleteReason
        }
    }

    /// Every link of the user, ended ones included, oldest first; nil where they are not asked for.
    package fileprivate(set) var links: [Link]?
    /// Nil where nothing of it is asked for.
    package fileprivate(set) var apple: Apple?
    /// When it was read.
    package fileprivate(set) var readAt: Date

    /// Whether nothing is missing of what was asked for.
    package var isComplete: Bool { apple.map { $0.incompleteReason == nil && $0.gaps.isEmpty } ?? true }

    fileprivate init(readAt: Date) { self.readAt = readAt }
}
