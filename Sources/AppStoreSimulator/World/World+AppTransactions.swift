import AppStoreAPI

extension World {
    /// How a customer came to have an app; nil if Apple has no app transaction of them.
    ///
    /// - Parameters:
    ///   - customer: who has which app.
    ///   - now: when it is signed, UNIX milliseconds.
    /// - Returns: All but what only devices know.
    func appTransaction(of customer: Customer, at now: Int64) -> AppTransactionPayload? {
        guard let id = downloads.id(of: customer), var payload = downloads[customer],
            let app = apps[customer.bundleID], let environment = accounts[customer.accountID]?.environment
        else { return nil }
        let firstPurchase = records(of: customer).compactMap(\.payload.purchaseDate).min()
        payload.receiptType = environment.wireValue
        payload.appAppleId = app.appAppleID
        payload.bundleId = app.bundleID
        payload.appTransactionId = id
        payload.receiptCreationDate = now
        payload.applicationVersion = payload.applicationVersion ?? "1.0"
        payload.versionExternalIdentifier = payload.versionExternalIdentifier ?? 0
        payload.originalPurchaseDate = payload.originalPurchaseDate ?? min(firstPurchase ?? now, now)
        // Always this in the sandbox, whatever the app says.
        payload.originalApplicationVersion =
            environment == .sandbox ? "1.0" : payload.originalApplicationVersion ?? "1.0"
        payload.originalPlatform = payload.originalPlatform ?? .iOS
        return payload
    }

    /// Sets what is known of a customer's app transaction, and gives it an id if it has none.
    ///
    /// - Parameters:
    ///   - details: the fields that Apple does not assign; nil makes it one that Apple does not have.
    ///   - accountID: who has the app.
    ///   - bundleID: the app.
    /// - Throws: ``ControlError``
    mutating func setAppTransaction(
        _ details: AppTransactionPayload?, of accountID: String, bundleID: String
    ) throws(ControlError) {
        let customer = Customer(accountID: try account(accountID).id, bundleID: try app(bundleID).bundleID)
        _ = appTransactionID(of: customer)
        downloads[customer] = details
    }
}

/// How customers came to have their apps: what app transactions tell.
struct AppDownloads: Sendable {
    private var ids: [Customer: String] = [:]
    private var customers: [String: Customer] = [:]
    /// What was set at the control port.
    private var details: [Customer: AppTransactionPayload] = [:]
    /// Those of whom Apple has no app transaction.
    private var missing: Set<Customer> = []

    func id(of customer: Customer) -> String? { ids[customer] }

    func customer(of id: String) -> Customer? { customers[id] }

    mutating func add(_ id: String, of customer: Customer) {
        ids[customer] = id
        customers[id] = customer
    }

    /// What is known beside the identifiers; nil if there is no app transaction.
    subscript(customer: Customer) -> AppTransactionPayload? {
        get { missing.contains(customer) ? nil : details[customer] ?? AppTransactionPayload() }
        set {
            details[customer] = newValue
            if newValue == nil { missing.insert(customer) } else { missing.remove(customer) }
        }
    }
}
