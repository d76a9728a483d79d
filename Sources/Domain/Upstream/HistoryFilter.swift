/// The filters of Get Transaction History, already checked.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
package struct HistoryFilter: Sendable, Hashable {
    /// UNIX milliseconds; `purchaseDate >= startDate`.
    package var startDate: Int64?
    /// UNIX milliseconds; `purchaseDate < endDate`.
    package var endDate: Int64?
    package var productIDs: [String] = []
    package var productTypes: [ProductTypeFilter] = []
    package var subscriptionGroupIdentifiers: [String] = []
    package var sort: Sort?
    package var inAppOwnershipType: OwnershipType?
    package var revoked: Bool?

    package init() {}

    /// Apple's `productType` filter; not the raw values of a transaction's `type`.
    package enum ProductTypeFilter: String, Sendable, Hashable, CaseIterable {
        case autoRenewable = "AUTO_RENEWABLE"
        case nonRenewable = "NON_RENEWABLE"
        case consumable = "CONSUMABLE"
        case nonConsumable = "NON_CONSUMABLE"
    }

    /// The order by last-modified date.
    package enum Sort: String, Sendable, Hashable, CaseIterable {
        case ascending = "ASCENDING"
        case descending = "DESCENDING"
    }

    /// How the customer came to own the purchase.
    package enum OwnershipType: String, Sendable, Hashable, CaseIterable {
        case purchased = "PURCHASED"
        case familyShared = "FAMILY_SHARED"
    }
}

extension HistoryFilter {
    /// The filter as one text, equal for equal filters.
    var canonicalText: String {
        let fields: [String] = [
            startDate.map(String.init) ?? "", endDate.map(String.init) ?? "", productIDs.joined(separator: "\n"),
            productTypes.map(\.rawValue).joined(separator: ","), subscriptionGroupIdentifiers.joined(separator: "\n"),
            sort?.rawValue ?? "", inAppOwnershipType?.rawValue ?? "", revoked.map(String.init) ?? "",
        ]
        return fields.map { "\($0.utf8.count):\($0)" }.joined()
    }
}
