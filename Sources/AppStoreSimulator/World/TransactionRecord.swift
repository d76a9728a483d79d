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
