package import Foundation

/// One purchase of a receipt as callers see it: the receipt's own words and Apple's present view, made into one.
///
/// The fields and their names are those of the resource that the receipts API answers with. What nobody has told is nil.
package struct InAppPurchase: Sendable, Equatable {
    /// By whom a purchase was ended; the raw values are those of the resource.
    package enum Canceller: String, Sendable, CaseIterable {
        case user, publisher, marketplace, unknown
    }

    /// The App Store, by the name that the resource has for it.
    package static let marketplace = "itunes_connect"

    /// A UUID, the same for the same purchase for ever.
    package let id: String
    /// The UUID of the app.
    package let appFamilyID: String
    /// A UUID, another one for each recorded change of the purchase.
    package let factID: String
    /// The number of recorded changes.
    package let version: Int
    /// The bundle id.
    package let appIdentifier: String
    package let productID: String?
    package let quantity: Int
    /// Apple's `type`, such as `Consumable`.
    package let type: String?
    package let environment: AppStoreEnvironment?
    package let countryCode: String?
    package let currencyCode: String?
    package let user: UserID?
    /// Nil: neither a receipt nor a transaction tells.
    package let isAutoRenewing: Bool?
    package let isInTrialPeriod: Bool?
    /// Nil: neither a receipt nor a transaction tells.
    package let isInGracePeriod: Bool?
    package let purchasedAt: Date?
    package let currentPeriodStartAt: Date?
    package let currentPeriodEndAt: Date?
    package let canceledAt: Date?
    package let canceledBy: Canceller?
    package let createdAt: Date
    package let updatedAt: Date
    /// When Apple last told of it.
    package let lastSyncedAt: Date?
    /// What the receipt says.
    package let receipt: ReceiptContent.Purchase
    /// What Apple says now; nil as long as Apple has not told.
    package let apple: ApplePurchase?
}

/// The names that things have for good, made of what they are.
package struct ReceiptIdentifiers: Sendable {
    private let digest: @Sendable ([UInt8]) -> [UInt8]

    /// - Parameter digest: SHA-256.
    package init(digest: @escaping @Sendable ([UInt8]) -> [UInt8]) { self.digest = digest }

    /// The UUID of an app: the configured one, else one made of its slug.
    package func appFamilyID(of app: App) -> String { app.appFamilyID ?? uuid(["app", app.slug]) }

    /// A UUID made of words (RFC 9562 section 5.8).
    func uuid(_ words: [String]) -> String {
        let content = words.map { "\($0.utf8.count):\($0)" }.joined()
        var halves = [UInt64](repeating: 0, count: 2)
        for (index, byte) in digest(Array(content.utf8)).enumerated() {
            halves[index / 8 % 2] = (halves[index / 8 % 2] &* 31) ^ UInt64(byte) << (UInt64(index % 8) * 8)
        }
        return UUIDVersion8.text(high: halves[0], low: halves[1])
    }

    /// The purchases of a receipt, in its order.
    package func purchases(of receipt: Receipt, app: App) -> [InAppPurchase] {
        let family = appFamilyID(of: app)
        let latest = ReceiptRules.latest(receipt.apple.values)
        return receipt.content.purchases.map { purchase in
            let apple = purchase.transactionID.flatMap { receipt.apple[$0] }
            let present = purchase.original.flatMap { latest[$0] } ?? apple
            return InAppPurchase(purchase, apple, present: present, of: receipt, family: family, uuid)
        }
    }
}

extension InAppPurchase {
    /// `present`: what Apple says of the newest transaction of the same original one: of a subscription's current period.
    fileprivate init(
        _ said: ReceiptContent.Purchase, _ apple: ApplePurchase?, present: ApplePurchase?, of receipt: Receipt,
        family: String, _ uuid: ([String]) -> String
    ) {
        let environment = receipt.environment
        let identity = [
            family, environment?.rawValue ?? "", said.webOrderLineItemID ?? apple?.webOrderLineItemID ?? "",
            said.original ?? apple?.originalTransactionID ?? "",
        ]
        let version = max(apple?.version ?? 0, 0) + 1
        id = uuid(["purchase"] + identity)
        factID = uuid(["fact", String(version)] + identity)
        self.version = version
        appFamilyID = family
        appIdentifier = receipt.content.bundleID
        productID = apple?.productID ?? said.productID
        quantity = apple?.quantity ?? said.quantity ?? 1
        type = apple?.productType
        self.environment = environment
        countryCode = receipt.countryCode
        currencyCode = apple?.currency
        user = receipt.user
        isAutoRenewing = nil
        isInTrialPeriod = present?.offerDiscountType.map { $0 == "FREE_TRIAL" }
        isInGracePeriod = nil
        purchasedAt = apple?.purchaseDate ?? said.purchaseDate
        let end = present?.expiresDate ?? said.expiresDate
        currentPeriodStartAt = end == nil ? nil : present?.purchaseDate ?? said.purchaseDate
        currentPeriodEndAt = end
        canceledAt = apple?.revocationDate ?? said.cancellationDate
        canceledBy = Self.canceller(said, apple)
        createdAt = receipt.createdAt
        updatedAt = apple?.changedAt ?? receipt.createdAt
        lastSyncedAt = apple?.syncedAt
        self.receipt = said
        self.apple = apple
    }

    /// A refund is Apple's; an upgrade is the customer's; of sharing that ended, and of a date in a receipt, nobody says.
    private static func canceller(_ said: ReceiptContent.Purchase, _ apple: ApplePurchase?) -> Canceller? {
        if let apple, apple.revocationDate != nil { return apple.isFamilyShared ? .unknown : .marketplace }
        guard said.cancellationDate != nil else { return nil }
        return apple?.isUpgraded == true ? .user : .unknown
    }
}
