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

// MARK: From a request

extension HistoryFilter {
    /// Reads the filters from query parameters; what is wrong with one is told under Apple's name for it.
    ///
    /// `takesSort`: whether the order is for the caller to choose.
    package init(_ fields: inout FieldReader, takesSort: Bool = true) {
        let milliseconds = "must be a UNIX time in milliseconds"
        startDate = fields.filter(
            "startDate", milliseconds, AppleErrorName("InvalidStartDateError", 4_000_015), Self.milliseconds)
        endDate = fields.filter(
            "endDate", milliseconds, AppleErrorName("InvalidEndDateError", 4_000_016), Self.milliseconds)
        productIDs = fields.filters(
            "productId", "must not be empty", AppleErrorName("InvalidProductIdError", 4_000_023), Self.text)
        productTypes = fields.filters(
            "productType", Self.oneOf(ProductTypeFilter.self), AppleErrorName("InvalidProductTypeError", 4_000_022),
            ProductTypeFilter.init)
        subscriptionGroupIdentifiers = fields.filters(
            "subscriptionGroupIdentifier", "must not be empty",
            AppleErrorName("InvalidSubscriptionGroupIdentifierError", 4_000_024), Self.text)
        if takesSort {
            sort = fields.filter(
                "sort", Self.oneOf(Sort.self), AppleErrorName("InvalidSortError", 4_000_021), Sort.init)
        }
        inAppOwnershipType = fields.filter(
            "inAppOwnershipType", Self.oneOf(OwnershipType.self),
            AppleErrorName("InvalidInAppOwnershipTypeError", 4_000_026), OwnershipType.init)
        revoked = fields.filter(
            "revoked", "must be `true` or `false`", AppleErrorName("InvalidRevokedError", 4_000_030)
        ) { Bool($0) }
        if let startDate, let endDate, endDate <= startDate {
            fields.note("endDate", "order", "`endDate` must be later than `startDate`.", .startDateAfterEndDate)
        }
    }

    private static func milliseconds(_ text: String) -> Int64? {
        guard let value = Int64(text), value >= 0 else { return nil }
        return value
    }

    private static func text(_ text: String) -> String? { text.isEmpty ? nil : text }

    private static func oneOf<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> String where T.RawValue == String {
        "must be one of \(type.allCases.map(\.rawValue).joined(separator: ", "))"
    }
}

extension FieldReader {
    /// A filter that may be given once.
    fileprivate mutating func filter<Value>(
        _ name: String, _ expectation: @autoclosure () -> String, _ error: AppleErrorName, _ read: (String) -> Value?
    ) -> Value? {
        let given = values(name)
        if given.count > 1 { note(name, "filter", "`\(name)`: given more than once.", error) }
        return given.first.flatMap { filter(name, $0, expectation, error, read) }
    }

    /// A filter that may be given several times.
    fileprivate mutating func filters<Value>(
        _ name: String, _ expectation: @autoclosure () -> String, _ error: AppleErrorName, _ read: (String) -> Value?
    ) -> [Value] {
        values(name).compactMap { filter(name, $0, expectation, error, read) }
    }

    private mutating func filter<Value>(
        _ name: String, _ text: String, _ expectation: () -> String, _ error: AppleErrorName,
        _ read: (String) -> Value?
    ) -> Value? {
        if let value = read(text) { return value }
        note(name, "filter", "`\(name)`: \(expectation()).", error)
        return nil
    }
}
