package import Foundation

/// What the rules need to know of a purchase: which identifiers it has, and what kind it is.
///
/// Taken from a transaction that Apple signed, and kept with cases and deliveries so that neither needs the signed form.
package struct PurchaseFacts: Sendable, Hashable {
    package let environment: AppStoreEnvironment
    package let transactionID: String
    package let originalTransactionID: String
    package let appTransactionID: String?
    /// In lower case.
    package let appAccountToken: String?
    package let productID: String?
    /// Apple's `type`, such as `Consumable`.
    package let productType: ProductType?
    package let purchaseDate: Date
    package let isFamilyShared: Bool
    package let isAdvancedCommerce: Bool

    package init(
        environment: AppStoreEnvironment, transactionID: String, originalTransactionID: String,
        appTransactionID: String? = nil, appAccountToken: String? = nil, productID: String? = nil,
        productType: ProductType? = nil, purchaseDate: Date, isFamilyShared: Bool = false,
        isAdvancedCommerce: Bool = false
    ) {
        self.environment = environment
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.appTransactionID = appTransactionID
        self.appAccountToken = appAccountToken?.lowercased()
        self.productID = productID
        self.productType = productType
        self.purchaseDate = purchaseDate
        self.isFamilyShared = isFamilyShared
        self.isAdvancedCommerce = isAdvancedCommerce
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

extension Transaction {
    /// What the rules need to know of the purchase.
    package var facts: PurchaseFacts {
        PurchaseFacts(
            environment: environment, transactionID: transactionID, originalTransactionID: originalTransactionID,
            appTransactionID: appTransactionID, appAccountToken: appAccountToken, productID: productID,
            productType: productType, purchaseDate: purchaseDate, isFamilyShared: isFamilyShared,
            isAdvancedCommerce: isAdvancedCommerce)
    }
}
