package import AppStoreAPI
import Foundation

extension SimulatorState {
    /// What the receipt of an app on a customer's device says: all purchases of theirs in it, oldest first.
    ///
    /// - Parameters:
    ///   - accountID: whose device it is on.
    ///   - bundleID: the app; the customer need not have bought anything in it.
    ///   - otherApp: the bundle id of an app whose purchases are in it instead, as in no receipt of Apple's.
    /// - Returns: The receipt, made now; in the sandbox its environment is `ProductionSandbox`, as of apps from TestFlight.
    /// - Throws: ``ControlError``
    package func appReceipt(
        of accountID: String, in bundleID: String, purchasesFrom otherApp: String? = nil
    ) throws(ControlError) -> IssuedReceipt {
        passTime()
        let now = clock.now
        return try withContent { content throws(ControlError) in
            let account = try content.world.account(accountID)
            let app = try content.world.app(bundleID)
            let source = try otherApp.map { name throws(ControlError) in try content.world.app(name) } ?? app
            let customer = Customer(accountID: account.id, bundleID: app.bundleID)
            let download = content.world.appTransaction(of: customer, at: now.unixMilliseconds)
            var receipt = IssuedReceipt(bundleID: app.bundleID, creationDate: now)
            receipt.environment = account.environment == .production ? "Production" : "ProductionSandbox"
            receipt.appAppleID = app.appAppleID
            receipt.applicationVersion = download?.applicationVersion ?? "1.0"
            receipt.originalApplicationVersion = download?.originalApplicationVersion ?? "1.0"
            receipt.purchases = content.world.records(
                of: Customer(accountID: account.id, bundleID: source.bundleID)
            ).map { IssuedPurchase($0.payload) }
            return receipt
        }
    }
}

extension IssuedPurchase {
    /// A transaction as a receipt shows it.
    package init(_ transaction: TransactionPayload) {
        func date(_ milliseconds: Int64?) -> Date? {
            milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        }
        self.init(
            productID: transaction.productId, transactionID: transaction.transactionId,
            purchaseDate: date(transaction.purchaseDate))
        quantity = transaction.quantity.map(Int64.init) ?? 1
        originalTransactionID = transaction.originalTransactionId
        originalPurchaseDate = date(transaction.originalPurchaseDate)
        expirationDate = date(transaction.expiresDate)
        webOrderLineItemID = transaction.webOrderLineItemId.flatMap { Int64($0) }
        cancellationDate = date(transaction.revocationDate)
        if transaction.type == .autoRenewableSubscription {
            isInIntroductoryOfferPeriod = transaction.offerType == .introductoryOffer
        }
    }
}
