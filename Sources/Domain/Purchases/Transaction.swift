package import Foundation

/// A transaction that Apple signed and that we have verified.
///
/// The few fields that rules need are typed; `payload` is Apple's decoded payload byte for byte, so that values which
/// Apple adds later pass through unharmed.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
package struct Transaction: Sendable {
    package let transactionID: String
    package let originalTransactionID: String
    package let webOrderLineItemID: String?
    package let appTransactionID: String?
    /// In lower case.
    package let appAccountToken: String?
    package let productID: String?
    /// Apple's `type`, such as `Consumable`.
    package let productType: ProductType?
    package let purchaseDate: Date
    /// When a subscription's period ends; nil for everything else.
    package let expiresDate: Date?
    package let signedDate: Date
    package let revocationDate: Date?
    package let isFamilyShared: Bool
    package let isAdvancedCommerce: Bool
    package let environment: AppStoreEnvironment
    package let details: TransactionDetails
    /// The decoded payload: a JSON object, verified and well-formed.
    package let payload: [UInt8]
    /// The signed form, as Apple sent it (compact JWS).
    package let signed: String

    package init(
        transactionID: String, originalTransactionID: String, webOrderLineItemID: String? = nil,
        appTransactionID: String? = nil, appAccountToken: String? = nil, productID: String? = nil,
        productType: ProductType? = nil, purchaseDate: Date, expiresDate: Date? = nil, signedDate: Date,
        revocationDate: Date? = nil,
        isFamilyShared: Bool = false, isAdvancedCommerce: Bool = false, environment: AppStoreEnvironment,
        details: TransactionDetails = TransactionDetails(), payload: [UInt8], signed: String
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.webOrderLineItemID = webOrderLineItemID
        self.appTransactionID = appTransactionID
        self.appAccountToken = appAccountToken?.lowercased()
        self.productID = productID
        self.productType = productType
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
        self.signedDate = signedDate
        self.revocationDate = revocationDate
        self.isFamilyShared = isFamilyShared
        self.isAdvancedCommerce = isAdvancedCommerce
        self.environment = environment
        self.details = details
        self.payload = payload
        self.signed = signed
    }

    /// What makes two transaction ids the same purchase.
    package var purchase: PurchaseIdentity { facts.identity }

    /// What the rules need to know of the purchase.
    package var facts: PurchaseFacts {
        PurchaseFacts(
            environment: environment, transactionID: transactionID, originalTransactionID: originalTransactionID,
            webOrderLineItemID: webOrderLineItemID, appTransactionID: appTransactionID,
            appAccountToken: appAccountToken, productID: productID, productType: productType,
            purchaseDate: purchaseDate, expiresDate: expiresDate, isFamilyShared: isFamilyShared,
            isAdvancedCommerce: isAdvancedCommerce)
    }
}

/// What a transaction says beyond what the rules of purchases ask about.
package struct TransactionDetails: Sendable, Equatable {
    package var quantity: Int?
    /// ISO 4217.
    package var currency: String?
    /// In thousandths of the currency.
    package var price: Int64?
    /// The storefront's country, ISO 3166-1 alpha-3.
    package var storefront: String?
    package var originalPurchaseDate: Date?
    /// Such as `FREE_TRIAL`.
    package var offerDiscountType: String?
    /// Whether the customer has moved to a better subscription of the same group.
    package var isUpgraded = false
    /// The part of the price that Apple gave back, in milliunits: 100,000 is all of it; nil where nothing was, or not told.
    package var revocationPercentage: Int32?

    package init() {}

    /// What the purchase cost, and where.
    package var terms: PurchaseTerms { PurchaseTerms(price: price, currency: currency, storefront: storefront) }
}

/// What a purchase cost, and in which storefront, as Apple signed it; nil whatever Apple did not tell.
package struct PurchaseTerms: Sendable, Hashable {
    /// In thousandths of the currency.
    package var price: Int64?
    /// ISO 4217.
    package var currency: String?
    /// The storefront's country, ISO 3166-1 alpha-3.
    package var storefront: String?

    package init(price: Int64? = nil, currency: String? = nil, storefront: String? = nil) {
        self.price = price
        self.currency = currency
        self.storefront = storefront
    }

    /// These, and what others tell beyond them.
    func completed(by others: PurchaseTerms) -> PurchaseTerms {
        PurchaseTerms(
            price: price ?? others.price, currency: currency ?? others.currency,
            storefront: storefront ?? others.storefront)
    }
}

/// Identifies a purchase within an app.
package struct PurchaseIdentity: Sendable, Hashable {
    package let environment: AppStoreEnvironment
    package let identifier: String
}

/// Apple's product type of a transaction; values that Apple adds later keep their raw text.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/type
package struct ProductType: RawRepresentable, Sendable, Hashable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    package static let autoRenewableSubscription = ProductType(rawValue: "Auto-Renewable Subscription")
    package static let nonConsumable = ProductType(rawValue: "Non-Consumable")
    package static let consumable = ProductType(rawValue: "Consumable")
    package static let nonRenewingSubscription = ProductType(rawValue: "Non-Renewing Subscription")
}

/// What the rules need to know of a purchase: which identifiers it has, and what kind it is.
///
/// Taken from a transaction that Apple signed, and kept with cases and deliveries so that neither needs the signed form.
package struct PurchaseFacts: Sendable, Hashable {
    package let environment: AppStoreEnvironment
    package let transactionID: String
    package let originalTransactionID: String
    /// A subscription's period; nil for everything else.
    package let webOrderLineItemID: String?
    /// Nil as long as nothing that Apple signed has named the Apple Account.
    package var appTransactionID: String?
    /// In lower case.
    package var appAccountToken: String?
    package let productID: String?
    /// Apple's `type`, such as `Consumable`.
    package let productType: ProductType?
    package let purchaseDate: Date
    /// When a subscription's period ends; nil for everything else.
    package let expiresDate: Date?
    package let isFamilyShared: Bool
    package let isAdvancedCommerce: Bool

    package init(
        environment: AppStoreEnvironment, transactionID: String, originalTransactionID: String,
        webOrderLineItemID: String? = nil, appTransactionID: String? = nil, appAccountToken: String? = nil,
        productID: String? = nil, productType: ProductType? = nil, purchaseDate: Date, expiresDate: Date? = nil,
        isFamilyShared: Bool = false, isAdvancedCommerce: Bool = false
    ) {
        self.environment = environment
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.webOrderLineItemID = webOrderLineItemID
        self.appTransactionID = appTransactionID
        self.appAccountToken = appAccountToken?.lowercased()
        self.productID = productID
        self.productType = productType
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
        self.isFamilyShared = isFamilyShared
        self.isAdvancedCommerce = isAdvancedCommerce
    }

    /// What makes two transaction ids the same purchase.
    ///
    /// Subscriptions have a `webOrderLineItemId` for each period; everything else is known by its original transaction.
    package var identity: PurchaseIdentity {
        PurchaseIdentity(
            environment: environment,
            identifier: webOrderLineItemID.map { "webOrderLineItemId:\($0)" }
                ?? "originalTransactionId:\(originalTransactionID)")
    }

    /// Whether both denote one purchase: the same transaction, or another transaction id of it.
    package func isSamePurchase(as other: PurchaseFacts) -> Bool {
        environment == other.environment && (transactionID == other.transactionID || identity == other.identity)
    }

    /// The identifiers by which a link can claim the purchase, most specific first.
    package var linkTargets: [LinkTarget] {
        var targets: [LinkTarget] = []
        if let appAccountToken { targets.append(LinkTarget(.appAccountToken, appAccountToken)) }
        targets.append(LinkTarget(.transactionId, transactionID))
        targets.append(LinkTarget(.originalTransactionId, originalTransactionID))
        if let appTransactionID { targets.append(LinkTarget(.appTransactionId, appTransactionID)) }
        return targets
    }
}
