/// Whose purchase is it.
///
/// The signed `appAccountToken` comes first, if it is linked or is itself a user's id; then the link of the transaction id;
/// then the link of the original transaction id that held at the purchase date; then the link of the `appTransactionId`.
/// Tokens that the app ignores name nobody; where the app's user ids are its tokens, a token names its user though nobody
/// has heard of that user.
package struct OwnerRule: Sendable {
    private let linksByTarget: [LinkTarget: [Link]]
    private let users: [String: UserID]
    private let app: App?

    /// - Parameters:
    ///   - links: every link to the identifiers of the transactions to be judged, ended ones included.
    ///   - users: the users whose ids occur as `appAccountToken` of those transactions.
    ///   - app: what a token means; nil where the configuration does not name the app any more.
    package init(links: [Link], users: Set<UserID>, app: App? = nil) {
        linksByTarget = Dictionary(grouping: links, by: \.target)
        // Of several spellings the same one always: that in lower case, else the first by its bytes.
        self.users = Dictionary(users.map { ($0.value.lowercased(), $0) }) { first, second in
            if second.value == second.value.lowercased() { return second }
            if first.value == first.value.lowercased() { return first }
            return first.value.utf8.lexicographicallyPrecedes(second.value.utf8) ? first : second
        }
        self.app = app
    }

    /// Reads what the rule needs for these transactions.
    ///
    /// `asking`: the user on whose behalf we ask; counts as known even without a link.
    ///
    /// - Returns: the rule, ready to judge these transactions.
    /// - Throws: `storeUnavailable`.
    package static func load(
        for transactions: [Transaction], app: App, asking: UserID?, from store: any LinkStore
    ) async throws(ServiceError) -> OwnerRule {
        try await load(for: transactions.map(\.facts), app: app, asking: asking, from: store)
    }

    /// Reads what the rule needs for these purchases; `asking` as above.
    ///
    /// - Returns: the rule, ready to judge these purchases.
    /// - Throws: `storeUnavailable`.
    package static func load(
        for purchases: [PurchaseFacts], app: App, asking: UserID?, from store: any LinkStore
    ) async throws(ServiceError) -> OwnerRule {
        let links = try await store.links(app: app.slug, targets: Set(purchases.flatMap(\.linkTargets)))
        var users = try await store.knownUsers(app: app.slug, matching: Set(purchases.compactMap(\.appAccountToken)))
        if let asking { users.insert(asking) }
        return OwnerRule(links: links, users: users, app: app)
    }

    /// Whether a user owns a transaction's purchase, in whatever spelling the id comes.
    package func isOwner(_ user: UserID, of transaction: Transaction) -> Bool {
        owner(of: transaction)?.isSameUser(as: user) ?? false
    }

    /// The owner of a transaction's purchase, if any is known.
    package func owner(of transaction: Transaction) -> UserID? { owner(of: transaction.facts) }

    /// The owner of a purchase, if any is known.
    package func owner(of purchase: PurchaseFacts) -> UserID? {
        if let token = purchase.appAccountToken, let user = user(named: token, purchase) { return user }
        if let linked = inForce(LinkTarget(.transactionId, purchase.transactionID), purchase) { return linked }
        let original = LinkTarget(.originalTransactionId, purchase.originalTransactionID)
        if let linked = links(to: original, purchase).last(where: { $0.isValid(at: purchase.purchaseDate) }) {
            return linked.user
        }
        return purchase.appTransactionID.flatMap { inForce(LinkTarget(.appTransactionId, $0), purchase) }
    }

    /// Whom a token names.
    private func user(named token: String, _ purchase: PurchaseFacts) -> UserID? {
        if app?.isTokenIgnored(token) ?? (token == App.nilToken) { return nil }
        if let linked = inForce(LinkTarget(.appAccountToken, token), purchase) { return linked }
        if let user = users[token] { return user }
        return app?.areUserIDsTokens == true ? try? UserID(token) : nil
    }

    private func links(to target: LinkTarget, _ purchase: PurchaseFacts) -> [Link] {
        linksByTarget[target]?.filter { $0.covers(purchase.environment) } ?? []
    }

    private func inForce(_ target: LinkTarget, _ purchase: PurchaseFacts) -> UserID? {
        links(to: target, purchase).last(where: \.isInForce)?.user
    }
}
