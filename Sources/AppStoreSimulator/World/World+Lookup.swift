import AppStoreAPI

// How Apple finds what a call is about. Identifiers of another app or environment are as unknown as invented ones.

extension World {
    /// The longest identifier that has Apple's form, in digits.
    static let longestIdentifier = 20

    /// Finds the transaction of an identifier: a transaction id or original transaction id.
    ///
    /// - Throws: 4000006, 4000048 or 4040010.
    func transaction(
        _ identifier: String, bundleID: String, environment: SimulatedEnvironment
    ) throws(Refusal) -> TransactionRecord {
        try Self.checkForm(identifier)
        guard customer(ofAppTransaction: identifier) == nil else { throw .error(.appTransactionIdNotSupported) }
        guard let record = records[identifier], record.customer.bundleID == bundleID, record.environment == environment
        else { throw .error(.transactionIdNotFound) }
        return record
    }

    /// Finds the customer of an identifier: a transaction id, original transaction id or app transaction id.
    ///
    /// - Throws: 4000006 or 4040010.
    func customer(
        _ identifier: String, bundleID: String, environment: SimulatedEnvironment
    ) throws(Refusal) -> Customer {
        try Self.checkForm(identifier)
        guard let customer = customer(ofAppTransaction: identifier) ?? records[identifier]?.customer,
            customer.bundleID == bundleID, accounts[customer.accountID]?.environment == environment
        else { throw .error(.transactionIdNotFound) }
        return customer
    }

    /// Finds a purchase by the original transaction id that a path asks for.
    ///
    /// - Throws: 4000008 or 4040005.
    func original(_ identifier: String, of app: AppInEnvironment) throws(Refusal) -> TransactionRecord {
        guard Self.hasForm(identifier) else { throw .error(.invalidOriginalTransactionId) }
        guard let record = records[identifier], record.customer.bundleID == app.bundleID,
            record.environment == app.environment, record.payload.originalTransactionId == identifier
        else { throw .error(.originalTransactionIdNotFound) }
        return record
    }

    private static func checkForm(_ identifier: String) throws(Refusal) {
        guard hasForm(identifier) else { throw .error(.invalidTransactionId) }
    }

    private static func hasForm(_ identifier: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return 1...longestIdentifier ~= identifier.utf8.count && identifier.utf8.allSatisfy(digits.contains)
    }
}
