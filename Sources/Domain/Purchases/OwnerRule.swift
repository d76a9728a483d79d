/// Whose purchase is it.
///
/// The signed `appAccountToken` comes first, if it is linked or is itself a user's id; then the link of the transaction id;
/// then the link of the original transaction id that held at the purchase date; then the link of the `appTransactionId`.
package struct OwnerRule: Sendable {
    private let linksByTarget: [LinkTarget: [Link]]
    private let users: [String: UserID]

    /// - Parameters:
    ///   - links: every link to the identifiers of the transactions to be judged, ended ones included.
    ///   - users: the users whose ids occur as `appAccountToken` of those transactions.
    package init(links: [Link], users: Set<UserID>) {
        linksByTarget = Dictionary(grouping: links, by: \.target)
        self.users = Dictionary(users.map { ($0.value.lowercased(), $0) }) { first, _ in first }
    }

    /// Reads what the rule needs for these transactions.
    ///
    /// `asking`: the user on whose behalf we ask; counts as known even without a link.
    ///
    /// - Returns: the rule, ready to judge these transactions.
    /// - Throws: `storeUnavailable`.
    package static func load(
        for transactions: [Transaction], app: String, asking: UserID?, from store: any LinkStore
    ) async throws(ServiceError) -> OwnerRule {
        try await load(for: transactions.map(\.facts), app: app, asking: asking, from: store)
    }

    /// Reads what the rule needs for these purchases; `asking` as above.
    ///
    /// - Returns: the rule, ready to judge these purchases.
    /// - Throws: `storeUnavailable`.
    package static func load(
        for purchases: [PurchaseFacts], app: String, asking: UserID?, from store: any LinkStore
    ) async throws(ServiceError) -> OwnerRule {
        let links = try await store.links(app: app, targets: Set(purchases.flatMap(\.linkTargets)))
        var users = try await store.knownUsers(app: app, matching: Set(purchases.compactMap(\.appAccountToken)))
        if let asking { users.insert(asking) }
        return OwnerRule(links: links, users: users)
    }

    /// The owner of a transaction's purchase, if any is known.
    package func owner(of transaction: Transaction) -> UserID? { owner(of: transaction.facts) }

    /// The owner of a purchase, if any is known.
    package func owner(of purchase: PurchaseFacts) -> UserID? {
        if let token = purchase.appAccountToken {
            if let linked = inForce(LinkTarget(.appAccountToken, token), purchase) { return linked }
            if let user = users[token] { return user }
        }
        if let linked = inForce(LinkTarget(.transactionId, purchase.transactionID), purchase) { return linked }
        let original = LinkTarget(.originalTransactionId, purchase.originalTransactionID)
        if let linked = links(to: original, purchase).last(where: { $0.isValid(at: purchase.purchaseDate) }) {
            return linked.user
        }
        return purchase.appTransactionID.flatMap { inForce(LinkTarget(.appTransactionId, $0), purchase) }
    }

    private func links(to target: LinkTarget, _ purchase: PurchaseFacts) -> [Link] {
        linksByTarget[target]?.filter { $0.covers(purchase.environment) } ?? []
    }

    private func inForce(_ target: LinkTarget, _ purchase: PurchaseFacts) -> UserID? {
        links(to: target, purchase).last(where: \.isInForce)?.user
    }
}
