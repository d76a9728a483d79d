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
        let now = milliseconds
        return try withContent { content throws(ControlError) in
            try content.world.buy(purchase, by: accountID, now: now)
        }
    }

    /// Renews a subscription, from the end of its last period unless a purchase date (UNIX milliseconds) is given.
    ///
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func renew(
        _ transactionID: String, purchaseDate: Int64? = nil
    ) throws(ControlError) -> TransactionPayload {
        try withContent { content throws(ControlError) in
            try content.world.renew(transactionID, purchaseDate: purchaseDate)
        }
    }

    /// Replaces a subscription's current period by one of another product; the price is in milliunits, nil keeps it.
    ///
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func upgrade(
        _ transactionID: String, to productID: String, price: Int64? = nil
    ) throws(ControlError) -> TransactionPayload {
        let now = milliseconds
        return try withContent { content throws(ControlError) in
            try content.world.upgrade(transactionID, to: productID, price: price, now: now)
        }
    }

    /// Restores a purchase, which gives it a further transaction id.
    ///
    /// - Returns: The new transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func restore(_ transactionID: String) throws(ControlError) -> TransactionPayload {
        let now = milliseconds
        return try withContent { content throws(ControlError) in
            try content.world.restore(transactionID, now: now)
        }
    }

    /// Shares a purchase with another account of the family.
    ///
    /// - Returns: The member's transaction.
    /// - Throws: ``ControlError``
    @discardableResult
    package func share(
        _ transactionID: String, with accountID: String
    ) throws(ControlError) -> TransactionPayload {
        try withContent { content throws(ControlError) in
            try content.world.share(transactionID, with: accountID)
        }
    }

    /// Refunds a purchase with all its transaction ids; family members lose it.
    ///
    /// - Returns: The transaction as it is now.
    /// - Throws: ``ControlError``
    @discardableResult
    package func refund(
        _ transactionID: String, _ refund: Refund = Refund()
    ) throws(ControlError) -> TransactionPayload {
        let now = milliseconds
        return try withContent { content throws(ControlError) in
            try content.world.refund(transactionID, refund, now: now)
        }
    }

    /// Takes a refund back.
    ///
    /// - Returns: The transaction as it is now.
    /// - Throws: ``ControlError``
    @discardableResult
    package func reverseRefund(_ transactionID: String) throws(ControlError) -> TransactionPayload {
        try withContent { content throws(ControlError) in try content.world.reverseRefund(transactionID) }
    }

    /// A transaction as it is now, without signing date.
    ///
    /// - Throws: ``ControlError``
    package func transaction(_ transactionID: String) throws(ControlError) -> TransactionPayload {
        try withContent { content throws(ControlError) in try content.world.record(transactionID).payload }
    }
}
