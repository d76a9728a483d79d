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
    /// A user of whom no transaction is known has one too: of links, and without what only Apple could tell.
    ///
    /// - Parameters:
    ///   - user: whose.
    ///   - isPartialAllowed: whether parts that fail are reported as gaps instead of failing the whole.
    ///   - call: for whom and until when.
    /// - Returns: the overview.
    /// - Throws: what the gateway or a store throws.
    package func overview(
        of user: UserID, isPartialAllowed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> UserOverview {
        let own = try await links.links(app: call.app.slug, user: user)
        let resolution: AccountResolver.Resolution
        do throws(ServiceError) {
            resolution = try await accounts.accounts(of: user, own, isPartialAllowed: isPartialAllowed, call)
        } catch {
            guard error.reason == .noTransactionKnown else { throw error }
            return UserOverview(
                links: own, accounts: [], activeSubscriptions: [], refundCount: 0, othersOmitted: 0,
                incompleteReason: error.message, gaps: [], readAt: now())
        }
        let reading = try await ask(about: resolution.accounts, isPartialAllowed: isPartialAllowed, call)
        return try await overview(of: user, own, resolution, reading, call)
    }

    /// Two questions an account, all under one bound and one deadline.
    private func ask(
        about accounts: [AccountResolver.Account], isPartialAllowed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> AccountReader.Reading<Answer> {
        let questions = accounts.flatMap { account in
            [AccountGap.Part.subscriptions, .refunds].map { AccountReader.Question(part: $0, account: account) }
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

    private func overview(
        of user: UserID, _ own: [Link], _ resolution: AccountResolver.Resolution,
        _ reading: AccountReader.Reading<Answer>, _ call: UpstreamCall
    ) async throws(ServiceError) -> UserOverview {
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
        let rule = try await OwnerRule.load(for: transactions, app: call.app.slug, asking: user, from: links)
        let active = subscriptions.filter { rule.owner(of: $0.subscription.transaction) == user }
        let refundCount = refunds.count { rule.owner(of: $0) == user }
        return UserOverview(
            links: own,
            accounts: resolution.accounts.map { UserOverview.Account(target: $0.target, environment: $0.environment) },
            activeSubscriptions: active, refundCount: refundCount,
            othersOmitted: transactions.count - active.count - refundCount,
            incompleteReason: isCut ? purchases.cutReason : nil, gaps: resolution.gaps + reading.gaps, readAt: now())
    }
}

/// What is known of a user at a glance.
package struct UserOverview: Sendable {
    /// An Apple Account that the user's links lead to.
    package struct Account: Sendable, Hashable {
        /// The identifier by which Apple is asked about it: its `appTransactionId` where that is known.
        package let target: LinkTarget
        /// Nil as long as it is not known.
        package let environment: AppStoreEnvironment?
    }

    /// Every link of the user, ended ones included, oldest first.
    package let links: [Link]
    package let accounts: [Account]
    /// Those that entitle the user now: active, or in the billing grace period; latest purchase first.
    package let activeSubscriptions: [GroupedSubscription]
    /// How many of the user's purchases Apple has refunded or revoked.
    package let refundCount: Int
    /// How many subscriptions and refunded purchases of the same Apple Accounts belong to other users.
    package let othersOmitted: Int
    /// Why the counts may be too low, if they may.
    package let incompleteReason: String?
    /// The parts that could not be read; empty unless the caller asked for a partial answer.
    package let gaps: [AccountGap]
    /// When Apple was read.
    package let readAt: Date
}
