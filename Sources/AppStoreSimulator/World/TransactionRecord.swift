import AppStoreAPI

/// A transaction and what the simulator remembers about it beside Apple's fields.
struct TransactionRecord: Sendable {
    let customer: Customer
    let environment: SimulatedEnvironment
    /// Everything but the signing date.
    var payload: TransactionPayload
    /// When it was changed last, counted in changes of the whole simulation; the order of the history.
    var modification: Int
    /// Whose purchase this is a share of: the purchaser's transaction id.
    var sharedFrom: String?

    /// What makes several transaction ids one purchase: Apple's line item for subscriptions, the original transaction otherwise.
    var purchase: String {
        payload.webOrderLineItemId.map { "item \($0)" } ?? "original \(payload.originalTransactionId ?? "")"
    }

    /// Whether Apple has given money back, as opposed to taking a family member's access away.
    var isRefunded: Bool { payload.revocationDate != nil && payload.revocationType != .familyRevoke }
}

// How Apple finds what a call is about. Identifiers of another app or environment are as unknown as invented ones.

extension World {
    /// The longest identifier that has Apple's form, in digits.
    static let longestIdentifier = 20

    /// Finds the transaction of an identifier: a transaction id or original transaction id.
    ///
    /// - Throws: 4000006, 4000048 or 4040010.
    func transaction(
        _ identifier: String, bundleID: String, environment: SimulatedEnvironment
    ) throws(AppleServiceError) -> TransactionRecord {
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
    ) throws(AppleServiceError) -> Customer {
        try Self.checkForm(identifier)
        guard let customer = customer(ofAppTransaction: identifier) ?? records[identifier]?.customer,
            customer.bundleID == bundleID, accounts[customer.accountID]?.environment == environment
        else { throw .error(.transactionIdNotFound) }
        return customer
    }

    /// Finds a purchase by the original transaction id that a path asks for.
    ///
    /// - Throws: 4000008 or 4040005.
    func original(_ identifier: String, of app: AppInEnvironment) throws(AppleServiceError) -> TransactionRecord {
        guard Self.hasForm(identifier) else { throw .error(.invalidOriginalTransactionId) }
        guard let record = records[identifier], record.customer.bundleID == app.bundleID,
            record.environment == app.environment, record.payload.originalTransactionId == identifier
        else { throw .error(.originalTransactionIdNotFound) }
        return record
    }

    private static func checkForm(_ identifier: String) throws(AppleServiceError) {
        guard hasForm(identifier) else { throw .error(.invalidTransactionId) }
    }

    private static func hasForm(_ identifier: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return 1...longestIdentifier ~= identifier.utf8.count && identifier.utf8.allSatisfy(digits.contains)
    }

    // MARK: Set App Account Token

    /// Finds the purchase whose token a call sets.
    ///
    /// - Throws: 4000006, 4000048, 4040005, 4000187 or 4000185.
    func purchaseToTie(_ identifier: String, of app: AppInEnvironment) throws(AppleServiceError) -> TransactionRecord {
        let record: TransactionRecord
        do throws(AppleServiceError) {
            record = try transaction(identifier, bundleID: app.bundleID, environment: app.environment)
        } catch {
            throw error == .error(.transactionIdNotFound) ? .error(.originalTransactionIdNotFound) : error
        }
        guard record.payload.originalTransactionId == identifier else {
            throw .error(.transactionIdIsNotOriginalTransactionId)
        }
        guard record.payload.inAppOwnershipType != .familyShared else { throw .error(.familyTransactionNotSupported) }
        return record
    }

    /// Ties a purchase to an app's user: of a subscription the present period, and thereby the later ones.
    mutating func setAppAccountToken(_ token: String, of original: TransactionRecord) {
        for id in siblings(of: latestPeriod(of: original) ?? original) {
            modify(id) { $0.appAccountToken = token }
        }
    }
}
