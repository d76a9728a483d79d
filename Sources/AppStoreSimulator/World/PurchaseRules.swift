import AppStoreAPI
import Foundation

/// What a purchase must say, and what is filled in when it does not.
enum PurchaseRules {
    /// A subscription's period unless the purchase gives an end: 30 days, in milliseconds.
    static let defaultPeriod: Int64 = 30 * 86_400_000

    /// Checks a purchase and completes it, but for the fields that Apple assigns.
    static func completed(_ purchase: TransactionPayload, now: Int64) throws(ControlError) -> TransactionPayload {
        var payload = purchase
        try checkAssigned(payload)
        guard let productID = payload.productId, !productID.isEmpty else { throw .invalid("productId is missing") }
        let types: [ProductType?] = [
            .consumable, .nonConsumable, .autoRenewableSubscription, .nonRenewingSubscription,
        ]
        guard types.contains(payload.type) else { throw .invalid("type must be one of Apple's four product types") }
        guard payload.quantity.map({ 1...10 ~= $0 }) ?? true else { throw .invalid("quantity must be 1 to 10") }
        if let token = payload.appAccountToken {
            guard let uuid = UUID(uuidString: token) else { throw .invalid("appAccountToken must be a UUID") }
            payload.appAccountToken = uuid.uuidString.lowercased()
        }
        let purchaseDate = payload.purchaseDate ?? now
        payload.purchaseDate = purchaseDate
        payload.originalPurchaseDate = purchaseDate
        payload.quantity = payload.quantity ?? 1
        payload.transactionReason = .purchase
        payload.storefront = payload.storefront ?? "USA"
        payload.storefrontId = payload.storefrontId ?? "143441"
        payload.currency = payload.currency ?? "USD"
        payload.price = payload.price ?? 4990
        try completePeriod(&payload, from: purchaseDate)
        return payload
    }

    private static func completePeriod(
        _ payload: inout TransactionPayload, from purchaseDate: Int64
    ) throws(ControlError) {
        guard payload.type == .autoRenewableSubscription else {
            guard payload.expiresDate == nil, payload.subscriptionGroupIdentifier == nil else {
                throw .invalid("only auto-renewable subscriptions have expiresDate and subscriptionGroupIdentifier")
            }
            return
        }
        let expiresDate = payload.expiresDate ?? purchaseDate + defaultPeriod
        guard expiresDate > purchaseDate else { throw .invalid("expiresDate must be later than purchaseDate") }
        payload.expiresDate = expiresDate
        payload.subscriptionGroupIdentifier = payload.subscriptionGroupIdentifier ?? "21000001"
    }

    private static func checkAssigned(_ purchase: TransactionPayload) throws(ControlError) {
        let assigned: [(String, Bool)] = [
            ("transactionId", purchase.transactionId != nil),
            ("originalTransactionId", purchase.originalTransactionId != nil),
            ("webOrderLineItemId", purchase.webOrderLineItemId != nil),
            ("appTransactionId", purchase.appTransactionId != nil),
            ("originalPurchaseDate", purchase.originalPurchaseDate != nil),
            ("environment", purchase.environment != nil), ("signedDate", purchase.signedDate != nil),
            ("inAppOwnershipType", purchase.inAppOwnershipType != nil),
            ("transactionReason", purchase.transactionReason != nil), ("isUpgraded", purchase.isUpgraded != nil),
            ("revocationDate", purchase.revocationDate != nil), ("revocationReason", purchase.revocationReason != nil),
            ("revocationType", purchase.revocationType != nil),
            ("revocationPercentage", purchase.revocationPercentage != nil),
        ]
        for (name, isGiven) in assigned where isGiven { throw .invalid("\(name) is assigned by the App Store") }
    }
}
