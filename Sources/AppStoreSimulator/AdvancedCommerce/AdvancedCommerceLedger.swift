import AppStoreAPI

/// The Advanced Commerce requests that were carried out, and what they settled about renewals.
///
/// No clock, no signatures.
struct AdvancedCommerceLedger: Sendable {
    /// What a request was about, by which a repetition is told from a mix-up.
    struct Subject: Sendable, Hashable {
        let operation: Endpoint.Operation
        let transactionID: String
    }

    /// A request's identifier, which is its app's own.
    private struct Reference: Hashable {
        let app: AppInEnvironment
        let identifier: String
    }

    private var requests: [Reference: Subject] = [:]
    /// What is renewed, by original transaction id, where a request has settled it.
    var renewals: [String: AdvancedCommerceRenewalInfo] = [:]

    /// What a request that was carried out was about.
    func subject(of identifier: String, from app: AppInEnvironment) -> Subject? {
        requests[Reference(app: app, identifier: identifier.lowercased())]
    }

    /// Notes a request as carried out.
    mutating func note(_ identifier: String, from app: AppInEnvironment, about subject: Subject) {
        requests[Reference(app: app, identifier: identifier.lowercased())] = subject
    }
}
