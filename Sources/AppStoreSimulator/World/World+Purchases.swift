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
        return payload
    }

    /// Renews a subscription for another period as long as its last one.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the subscription.
    ///   - purchaseDate: UNIX milliseconds; nil stands for the end of the last period.
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    mutating func renew(_ transactionID: String, purchaseDate: Int64?) throws(ControlError) -> TransactionPayload {
        let latest = try latestPeriod(ofSubscriptionWith: record(transactionID))
        guard let lastStart = latest.payload.purchaseDate, let lastEnd = latest.payload.expiresDate else {
            throw .conflict("transaction \(transactionID) has no period to renew")
        }
        let start = purchaseDate ?? lastEnd
        var payload = latest.payload.continued(
            as: identifiers.transaction(in: latest.environment), item: identifiers.lineItem(in: latest.environment))
        payload.purchaseDate = start
        payload.expiresDate = start + (lastEnd - lastStart)
        payload.transactionReason = .renewal
        insert(payload, of: latest.customer, in: latest.environment)
        return payload
    }

    /// Replaces a subscription's current period by one of a better product.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the subscription.
    ///   - productID: what the customer upgrades to.
    ///   - price: in milliunits; nil keeps the price.
    ///   - now: UNIX milliseconds; start of the new period.
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    mutating func upgrade(
        _ transactionID: String, to productID: String, price: Int64?, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let latest = try latestPeriod(ofSubscriptionWith: record(transactionID))
        guard let lastStart = latest.payload.purchaseDate, let lastEnd = latest.payload.expiresDate,
            let latestID = latest.payload.transactionId
        else { throw .conflict("transaction \(transactionID) has no period to upgrade") }
        guard latest.payload.productId != productID else { throw .conflict("the product stays the same") }
        modify(latestID) { $0.isUpgraded = true }
        var payload = latest.payload.continued(
            as: identifiers.transaction(in: latest.environment), item: identifiers.lineItem(in: latest.environment))
        payload.productId = productID
        payload.price = price ?? payload.price
        payload.purchaseDate = now
        payload.expiresDate = now + (lastEnd - lastStart)
        payload.transactionReason = .purchase
        insert(payload, of: latest.customer, in: latest.environment)
        return payload
    }

    /// Restores a purchase on another device: a further transaction id for the same purchase.
    mutating func restore(_ transactionID: String, now: Int64) throws(ControlError) -> TransactionPayload {
        let record = try record(transactionID)
        guard record.payload.type != .consumable else { throw .conflict("consumables cannot be restored") }
        var payload = record.payload
        payload.transactionId = identifiers.transaction(in: record.environment)
        if payload.type != .autoRenewableSubscription { payload.purchaseDate = now }
        insert(payload, of: record.customer, in: record.environment, sharedFrom: record.sharedFrom)
        return payload
    }

    /// Shares a purchase with another account of the family, which gets transaction ids of its own.
    mutating func share(_ transactionID: String, with accountID: String) throws(ControlError) -> TransactionPayload {
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
        return payload
    }

    /// The period of a subscription that begins last.
    private func latestPeriod(
        ofSubscriptionWith record: TransactionRecord
    ) throws(ControlError) -> TransactionRecord {
        guard record.payload.type == .autoRenewableSubscription, record.payload.inAppOwnershipType == .purchased else {
            throw .conflict("it is not a subscription that the account bought itself")
        }
        let periods = records(of: record.customer).filter {
            $0.payload.originalTransactionId == record.payload.originalTransactionId
        }
        // Of periods that begin together, as after an upgrade at once, the one that was made last counts.
        return periods.reversed().max { ($0.payload.purchaseDate ?? 0) < ($1.payload.purchaseDate ?? 0) } ?? record
    }
}

extension TransactionPayload {
    /// The beginning of a subscription's next period: a transaction and line item of its own, without what belonged to the last one alone.
    fileprivate func continued(as transactionId: String, item: String) -> TransactionPayload {
        var payload = self
        payload.transactionId = transactionId
        payload.webOrderLineItemId = item
        payload.isUpgraded = nil
        payload.offerType = nil
        payload.offerIdentifier = nil
        payload.offerDiscountType = nil
        payload.offerPeriod = nil
        payload.clearRevocation()
        return payload
    }
}
