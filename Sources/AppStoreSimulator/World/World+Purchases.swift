import AppStoreAPI
import Foundation

extension World {
    /// Lets an account buy something.
    ///
    /// - Parameters:
    ///   - purchase: what is bought, in Apple's fields: `bundleId`, `productId` and `type` at least. What Apple assigns must be absent.
    ///   - accountID: who buys.
    ///   - now: UNIX milliseconds; the purchase date unless one is given.
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    mutating func buy(
        _ purchase: TransactionPayload, by accountID: String, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let account = try account(accountID)
        guard let bundleID = purchase.bundleId else { throw .invalid("bundleId is missing") }
        _ = try app(bundleID)
        let customer = Customer(accountID: accountID, bundleID: bundleID)
        var payload = try PurchaseRules.completed(purchase, now: now)
        payload.transactionId = identifiers.transaction(in: account.environment)
        payload.originalTransactionId = payload.transactionId
        if payload.type == .autoRenewableSubscription {
            payload.webOrderLineItemId = identifiers.lineItem(in: account.environment)
        }
        payload.environment = account.environment.wireValue
        payload.inAppOwnershipType = .purchased
        payload.appTransactionId = appTransactionID(of: customer)
        insert(payload, of: customer, in: account.environment)
        beginOwnership(of: payload, now: now)
        return payload
    }

    /// Restores a purchase on another device: a further transaction id for the same purchase.
    mutating func restore(_ transactionID: String, now: Int64) throws(ControlError) -> TransactionPayload {
        let record = try record(transactionID)
        guard record.payload.type != .consumable else { throw .conflict("consumables cannot be restored") }
        var payload = record.payload
        payload.transactionId = identifiers.transaction(in: record.environment)
        if payload.type != .autoRenewableSubscription { payload.purchaseDate = now }
        insert(
            payload, of: record.customer, in: record.environment, sharedFrom: record.sharedFrom, restored: transactionID
        )
        return payload
    }

    /// Shares a purchase with another account of the family, which gets transaction ids of its own.
    mutating func share(
        _ transactionID: String, with accountID: String, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let record = try record(transactionID)
        let member = try account(accountID)
        let purchaser = try account(record.customer.accountID)
        guard record.payload.inAppOwnershipType == .purchased else { throw .conflict("it is shared already") }
        guard member.id != purchaser.id, member.environment == purchaser.environment, member.family != nil,
            member.family == purchaser.family
        else { throw .conflict("accounts \(purchaser.id) and \(member.id) are not of one family and environment") }
        guard record.payload.type == .nonConsumable || record.payload.type == .autoRenewableSubscription else {
            throw .conflict("only non-consumables and auto-renewable subscriptions can be shared")
        }
        let customer = Customer(accountID: member.id, bundleID: record.customer.bundleID)
        var payload = record.payload
        payload.transactionId = identifiers.transaction(in: member.environment)
        payload.originalTransactionId = payload.transactionId
        if payload.webOrderLineItemId != nil {
            payload.webOrderLineItemId = identifiers.lineItem(in: member.environment)
        }
        payload.inAppOwnershipType = .familyShared
        payload.appAccountToken = nil
        payload.appTransactionId = appTransactionID(of: customer)
        insert(payload, of: customer, in: member.environment, sharedFrom: transactionID)
        let isSubscription = payload.type == .autoRenewableSubscription
        emit(
            isSubscription ? .subscribed : .oneTimeCharge, isSubscription ? .initialBuy : nil,
            about: payload.transactionId, at: now)
        return payload
    }

    /// Begins the subscription that was bought, if it was one, and tells of the purchase.
    private mutating func beginOwnership(of payload: TransactionPayload, now: Int64) {
        guard let id = payload.transactionId, payload.type == .autoRenewableSubscription,
            let start = payload.purchaseDate, let end = payload.expiresDate
        else {
            emit(.oneTimeCharge, about: payload.transactionId, at: now)
            return
        }
        subscriptions[id] = SimulatedSubscription(periodLength: end - start)
        emit(.subscribed, .initialBuy, about: id, at: now)
    }
}

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

/// Which transactions were bought in which order.
struct OrderBook: Sendable {
    private var transactions: [String: [String]] = [:]
    private var orders: [String: String] = [:]

    /// The order that a transaction belongs to; none for what a family member was given.
    func order(of transactionID: String) -> String? { orders[transactionID] }

    /// The transactions of an order, in the order in which they were made; empty if there is no such order.
    func transactions(of orderID: String) -> [String] { transactions[orderID] ?? [] }

    mutating func open(_ orderID: String, with transactionID: String) {
        transactions[orderID, default: []].append(transactionID)
        orders[transactionID] = orderID
    }

    /// Adds a further transaction of something that was bought already.
    mutating func add(_ transactionID: String, toOrderOf other: String) {
        if let orderID = orders[other] { open(orderID, with: transactionID) }
    }
}
