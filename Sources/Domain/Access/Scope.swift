/// What a caller may do with an app.
package enum Scope: String, Sendable, Hashable, CaseIterable {
    case consumptionWrite = "consumption:write"
    case refundsRead = "refunds:read"
    case transactionsRead = "transactions:read"
    case linksWrite = "links:write"
}
