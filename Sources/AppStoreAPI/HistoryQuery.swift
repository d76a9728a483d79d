/// The query of Get Transaction History: filters, order and page.
///
/// Values of one filter are alternatives; different filters must all be met. All but the revision must stay the same from page to page.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
package struct HistoryQuery: Sendable, Hashable {
    /// UNIX milliseconds: `purchaseDate >= startDate`.
    package var startDate: Int64?
    /// UNIX milliseconds: `purchaseDate < endDate`; may be in the future.
    package var endDate: Int64?
    package var productIds: [String]
    package var productTypes: [ProductTypeFilter]
    package var sort: SortOrder?
    package var subscriptionGroupIdentifiers: [String]
    package var inAppOwnershipType: InAppOwnershipType?
    /// True for revoked transactions only, false for the others only.
    package var revoked: Bool?
    /// The predecessor of `revoked`, for version 1 only: true leaves revoked transactions out.
    package var excludeRevoked: Bool?
    /// The revision of the page before; nil for the first page.
    package var revision: String?

    package init(
        startDate: Int64? = nil, endDate: Int64? = nil, productIds: [String] = [],
        productTypes: [ProductTypeFilter] = [], sort: SortOrder? = nil, subscriptionGroupIdentifiers: [String] = [],
        inAppOwnershipType: InAppOwnershipType? = nil, revoked: Bool? = nil, excludeRevoked: Bool? = nil,
        revision: String? = nil
    ) {
        self.startDate = startDate
        self.endDate = endDate
        self.productIds = productIds
        self.productTypes = productTypes
        self.sort = sort
        self.subscriptionGroupIdentifiers = subscriptionGroupIdentifiers
        self.inAppOwnershipType = inAppOwnershipType
        self.revoked = revoked
        self.excludeRevoked = excludeRevoked
        self.revision = revision
    }

    /// The parameters in a fixed order.
    package var parameters: [QueryParameter] {
        var parameters: [QueryParameter] = []
        func add(_ name: String, _ value: String?) {
            if let value { parameters.append(QueryParameter(name, value)) }
        }
        add("revision", revision)
        add("startDate", startDate.map(String.init))
        add("endDate", endDate.map(String.init))
        for productId in productIds { add("productId", productId) }
        for productType in productTypes { add("productType", productType.rawValue) }
        add("sort", sort?.rawValue)
        for group in subscriptionGroupIdentifiers { add("subscriptionGroupIdentifier", group) }
        add("inAppOwnershipType", inAppOwnershipType?.rawValue)
        add("revoked", revoked.map(String.init))
        add("excludeRevoked", excludeRevoked.map(String.init))
        return parameters
    }

    /// The product types by which the history can be filtered; not the values that a transaction has in `type`.
    package enum ProductTypeFilter: String, Sendable, Hashable, CaseIterable {
        case autoRenewable = "AUTO_RENEWABLE"
        case nonRenewable = "NON_RENEWABLE"
        case consumable = "CONSUMABLE"
        case nonConsumable = "NON_CONSUMABLE"
    }

    /// The order of the history, by the date of the last change.
    package enum SortOrder: String, Sendable, Hashable, CaseIterable {
        case ascending = "ASCENDING"
        case descending = "DESCENDING"
    }
}
