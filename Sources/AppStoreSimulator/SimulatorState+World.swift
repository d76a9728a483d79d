package import AppStoreAPI
package import OpenSSL

extension SimulatorState {
    /// Registers the public half of a team's key, under the id given or a new one.
    ///
    /// - Returns: The key's id.
    /// - Throws: ``ControlError``
    @discardableResult
    package func registerKey(
        _ publicKey: ECPublicKey, keyID: String? = nil, issuerID: String
    ) throws(ControlError) -> String {
        try withContent { content throws(ControlError) in
            try content.world.registerKey(publicKey, keyID: keyID, issuerID: issuerID)
        }
    }

    /// Revokes a key for good.
    ///
    /// - Throws: ``ControlError``
    package func revokeKey(_ keyID: String) throws(ControlError) {
        try withContent { content throws(ControlError) in try content.world.revokeKey(keyID) }
    }

    /// Registers an app, or changes what is known of it.
    ///
    /// - Throws: ``ControlError``
    package func register(_ app: RegisteredApp) throws(ControlError) {
        try withContent { content throws(ControlError) in try content.world.register(app) }
    }

    /// Creates an Apple Account; accounts of the same family can share purchases.
    ///
    /// - Returns: The account, with the id given or a new one.
    /// - Throws: ``ControlError``
    @discardableResult
    package func createAccount(
        _ id: String? = nil, in environment: SimulatedEnvironment, family: String? = nil
    ) throws(ControlError) -> AppleAccount {
        try withContent { content throws(ControlError) in
            try content.world.createAccount(id, in: environment, family: family)
        }
    }

    /// Lets an account buy something: `bundleId`, `productId` and `type` at least, and no field that Apple assigns.
    ///
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func buy(
        _ purchase: TransactionPayload, by accountID: String
    ) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in try world.buy(purchase, by: accountID, now: now) }
    }

    /// Restores a purchase, which gives it a further transaction id.
    ///
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func restore(_ transactionID: String) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in try world.restore(transactionID, now: now) }
    }

    /// Shares a purchase with another account of the family.
    ///
    /// - Returns: The member's transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func share(
        _ transactionID: String, with accountID: String
    ) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in try world.share(transactionID, with: accountID, now: now) }
    }

    /// Ends a family member's access to a purchase; the transaction is the member's.
    ///
    /// - Returns: The transaction as it is now.
    /// - Throws: ``ControlError``
    @discardableResult
    package func endSharing(_ transactionID: String) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in try world.endSharing(transactionID, now: now) }
    }

    /// Refunds a purchase with all its transaction ids; family members lose it.
    ///
    /// - Returns: The transaction as it is now.
    /// - Throws: ``ControlError``
    @discardableResult
    package func refund(
        _ transactionID: String, _ refund: Refund = Refund()
    ) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in try world.refund(transactionID, refund, now: now) }
    }

    /// Takes a refund back.
    ///
    /// - Returns: The transaction as it is now.
    /// - Throws: ``ControlError``
    @discardableResult
    package func reverseRefund(_ transactionID: String) throws(ControlError) -> TransactionPayload {
        try change { world, now throws(ControlError) in try world.reverseRefund(transactionID, now: now) }
    }

    /// The order that a transaction belongs to; nil for what a family member was given.
    ///
    /// - Throws: ``ControlError/notFound(_:)``
    package func order(of transactionID: String) throws(ControlError) -> String? {
        try withContent { content throws(ControlError) in
            _ = try content.world.record(transactionID)
            return content.world.orders.order(of: transactionID)
        }
    }

    /// Sets what an app transaction says beside what Apple assigns; nil for a customer who has none.
    ///
    /// - Throws: ``ControlError/notFound(_:)``
    package func setAppTransaction(
        _ details: AppTransactionPayload?, of accountID: String, bundleID: String
    ) throws(ControlError) {
        try change { world, _ throws(ControlError) in
            try world.setAppTransaction(details, of: accountID, bundleID: bundleID)
        }
    }

    /// A transaction as it is now, without signing date.
    ///
    /// - Throws: ``ControlError``
    package func transaction(_ transactionID: String) throws(ControlError) -> TransactionPayload {
        try withContent { content throws(ControlError) in try content.world.record(transactionID).payload }
    }
}
