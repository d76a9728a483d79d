import AppStoreAPI

/// A page of a list, before it is signed.
struct TransactionPage: Sendable {
    let transactions: [TransactionPayload]
    let revision: Revision
    let hasMore: Bool
}
