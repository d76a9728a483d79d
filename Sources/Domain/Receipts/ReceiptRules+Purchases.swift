package import Foundation

// What a receipt's purchases are by Apple's account of them.

extension ReceiptRules {
    /// The newest transaction of each original one.
    static func latest(_ purchases: some Sequence<ApplePurchase>) -> [String: ApplePurchase] {
        var latest: [String: ApplePurchase] = [:]
        for purchase in purchases {
            if let other = latest[purchase.originalTransactionID],
                (other.purchaseDate, other.transactionID) >= (purchase.purchaseDate, purchase.transactionID)
            {
                continue
            }
            latest[purchase.originalTransactionID] = purchase
        }
        return latest
    }

    /// What is kept of Apple's answer beside what was kept before: the receipt's own transactions, and the newest one of each
    /// purchase in it.
    static func merged(
        _ receipt: Receipt, _ transactions: [Transaction], at now: Date
    ) -> [String: ApplePurchase] {
        let own = Set(receipt.content.purchases.compactMap(\.transactionID))
        let originals = Set(receipt.content.purchases.compactMap(\.original))
        var known = receipt.apple
        for transaction in transactions
        where own.contains(transaction.transactionID) || originals.contains(transaction.originalTransactionID) {
            let before = known[transaction.transactionID]
            if let before, before.signedDate > transaction.signedDate { continue }
            known[transaction.transactionID] = ApplePurchase(transaction, after: before, at: now)
        }
        let newest = Set(latest(known.values).values.map(\.transactionID))
        let kept = known.values.filter { own.contains($0.transactionID) || newest.contains($0.transactionID) }
            .sorted { ($0.purchaseDate, $0.transactionID) > ($1.purchaseDate, $1.transactionID) }
            .prefix(maximumApplePurchases)
        return Dictionary(uniqueKeysWithValues: kept.map { ($0.transactionID, $0) })
    }

    /// The identifiers by which a receipt is found again when another user sends a purchase of it: the Apple Account's where it is
    /// known, and the newest original transactions.
    package static func identifiers(of receipt: Receipt, _ transactions: [Transaction]) -> [String] {
        var seen: Set<String> = []
        let newest = receipt.content.purchases
            .sorted { ($0.purchaseDate ?? .distantPast) > ($1.purchaseDate ?? .distantPast) }
        let originals = newest.compactMap(\.original).filter { seen.insert($0).inserted }
        let account = transactions.lazy.compactMap(\.appTransactionID).first.map { ["account \($0)"] } ?? []
        let environment = transactions.first?.environment.rawValue ?? ""
        return account + originals.prefix(maximumIdentifiers - 1).map { "\(environment) \($0)" }
    }

    /// The links that a receipt teaches once Apple has confirmed it: who sent it owns what was bought.
    ///
    /// The Apple Account's, and those of the newest original transactions that the receipt holds. What is shared in a family is
    /// bought by one account and used by another, so that it proves nothing.
    package static func taught(by receipt: Receipt, _ transactions: [Transaction], at now: Date) -> [Link] {
        guard let user = receipt.user else { return [] }
        let originals = Set(receipt.content.purchases.compactMap(\.original))
        var targets: [LinkTarget] = []
        var seen: Set<LinkTarget> = []
        let newest = transactions.filter { originals.contains($0.originalTransactionID) && !$0.isFamilyShared }
            .sorted { ($0.purchaseDate, $0.transactionID) > ($1.purchaseDate, $1.transactionID) }
        for transaction in newest {
            for target in transaction.facts.linkTargets
            where target.kind == .originalTransactionId || target.kind == .appTransactionId {
                if seen.insert(target).inserted { targets.append(target) }
            }
            if targets.count >= maximumIdentifiers { break }
        }
        return targets.map { target in
            Link(
                app: receipt.app, user: user, target: target, environment: newest[0].environment, source: .receipt,
                validFrom: nil, validUntil: nil, createdAt: now, createdBy: "")
        }
    }
}

extension ApplePurchase {
    /// What Apple says now, after what it said before.
    init(_ transaction: Transaction, after before: ApplePurchase?, at now: Date) {
        let details = transaction.details
        transactionID = transaction.transactionID
        originalTransactionID = transaction.originalTransactionID
        webOrderLineItemID = transaction.webOrderLineItemID
        appTransactionID = transaction.appTransactionID
        productID = transaction.productID
        productType = transaction.productType?.rawValue
        quantity = details.quantity
        currency = details.currency
        price = details.price
        storefront = details.storefront
        purchaseDate = transaction.purchaseDate.roundedToMilliseconds
        originalPurchaseDate = details.originalPurchaseDate
        expiresDate = transaction.expiresDate
        revocationDate = transaction.revocationDate
        offerDiscountType = details.offerDiscountType
        isUpgraded = details.isUpgraded
        isFamilyShared = transaction.isFamilyShared
        signedDate = transaction.signedDate
        version = 1
        changedAt = now
        syncedAt = now
        guard let before else { return }
        version = before.version
        changedAt = before.changedAt
        guard !isSame(as: before) else { return }
        version += 1
        changedAt = now
    }

    /// Whether both say the same, whenever Apple signed it.
    private func isSame(as other: ApplePurchase) -> Bool {
        var copy = other
        copy.signedDate = signedDate
        copy.syncedAt = syncedAt
        return copy == self
    }
}
