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
        subscriptions[id] = Subscription(periodLength: end - start)
        emit(.subscribed, .initialBuy, about: id, at: now)
    }
}
