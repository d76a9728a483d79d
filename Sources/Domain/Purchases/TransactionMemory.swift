/// What earlier answers of Apple taught about an identifier, so that it need not be asked again.
package struct KnownIdentifier: Sendable, Hashable {
    /// A transaction id, original transaction id or app transaction id.
    package let identifier: String
    package let environment: AppStoreEnvironment
    /// The Apple Account's `appTransactionId`, where Apple's answer named it.
    package let appTransactionID: String?

    package init(identifier: String, environment: AppStoreEnvironment, appTransactionID: String?) {
        self.identifier = identifier
        self.environment = environment
        self.appTransactionID = appTransactionID
    }
}

/// Remembers environments and Apple Accounts of identifiers.
///
/// It may forget what is oldest; that costs calls, and users whom an Apple Account was known to belong to.
package protocol TransactionMemory: Sendable {
    /// What is known of these identifiers; at most one entry an identifier and environment.
    func known(app: String, identifiers: Set<String>) async throws(ServiceError) -> [KnownIdentifier]

    /// Records what was learnt; an entry without an account never erases one with it.
    func remember(_ entries: [KnownIdentifier], app: String) async throws(ServiceError)
}

extension PurchaseFacts {
    /// The identifiers whose environment and Apple Account the purchase tells.
    package var identifiers: [KnownIdentifier] {
        Set([transactionID, originalTransactionID]).map {
            KnownIdentifier(identifier: $0, environment: environment, appTransactionID: appTransactionID)
        }
    }
}

extension KnownIdentifier {
    /// What transactions tell, each once and in ascending order.
    static func all(of transactions: [Transaction]) -> [KnownIdentifier] {
        Set(transactions.flatMap(\.facts.identifiers)).sorted { $0.identifier < $1.identifier }
    }
}

/// Remembers which apps have a release: Apple's Production has once taken a token of theirs.
///
/// It tells a key that Production refuses from an app that Production does not know yet. A release is never taken back, so
/// that nothing is ever forgotten; there is one entry an app.
package protocol ReleaseMemory: Sendable {
    /// Whether Production has ever taken a token of the app with this bundle id.
    func hasRelease(bundleID: String) async throws(ServiceError) -> Bool

    /// Records that it has, for each of these apps.
    func rememberReleases(ofBundleIDs bundleIDs: Set<String>) async throws(ServiceError)
}
