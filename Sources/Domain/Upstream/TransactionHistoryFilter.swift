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
    /// Reads the filters from query parameters.
    ///
    /// - Parameter query: names and values in the order given; parameters that are no filter are left alone.
    /// - Throws: `invalidRequest` with every violation.
    package init(query: [(name: String, value: String)]) throws(ServiceError) {
        self.init()
        var violations: [Violation] = []
        var seen: Set<String> = []
        for (name, value) in query {
            guard let rule = Self.rules[name] else { continue }
            if !rule.isRepeatable, !seen.insert(name).inserted {
                violations.append(rule.violation(name, "given more than once"))
            } else if !rule.read(&self, value) {
                violations.append(rule.violation(name, rule.expectation))
            }
        }
        if let startDate, let endDate, endDate <= startDate {
            violations.append(
                Violation(
                    field: "endDate", rule: "order", message: "`endDate` must be later than `startDate`.",
                    appleError: .startDateAfterEndDate))
        }
        guard violations.isEmpty else { throw .invalid(violations) }
    }

    /// The names of all filters.
    package static var parameterNames: Set<String> { Set(rules.keys) }

    private struct Rule: Sendable {
        let isRepeatable: Bool
        let expectation: String
        let appleError: AppleErrorName
        /// Returns whether the value was taken.
        let read: @Sendable (inout HistoryFilter, String) -> Bool

        func violation(_ name: String, _ problem: String) -> Violation {
            Violation(field: name, rule: "filter", message: "`\(name)`: \(problem).", appleError: appleError)
        }
    }

    private static let rules: [String: Rule] = [
        "startDate": Rule(
            isRepeatable: false, expectation: "must be a UNIX time in milliseconds",
            appleError: AppleErrorName("InvalidStartDateError", 4_000_015),
            read: { filter, value in
                filter.startDate = milliseconds(value)
                return filter.startDate != nil
            }),
        "endDate": Rule(
            isRepeatable: false, expectation: "must be a UNIX time in milliseconds",
            appleError: AppleErrorName("InvalidEndDateError", 4_000_016),
            read: { filter, value in
                filter.endDate = milliseconds(value)
                return filter.endDate != nil
            }),
        "productId": Rule(
            isRepeatable: true, expectation: "must not be empty",
            appleError: AppleErrorName("InvalidProductIdError", 4_000_023),
            read: { filter, value in
                filter.productIDs.append(value)
                return !value.isEmpty
            }),
        "productType": Rule(
            isRepeatable: true,
            expectation: "must be one of \(list(ProductTypeFilter.self))",
            appleError: AppleErrorName("InvalidProductTypeError", 4_000_022),
            read: { filter, value in
                guard let type = ProductTypeFilter(rawValue: value) else { return false }
                filter.productTypes.append(type)
                return true
            }),
        "subscriptionGroupIdentifier": Rule(
            isRepeatable: true, expectation: "must not be empty",
            appleError: AppleErrorName("InvalidSubscriptionGroupIdentifierError", 4_000_024),
            read: { filter, value in
                filter.subscriptionGroupIdentifiers.append(value)
                return !value.isEmpty
            }),
        "sort": Rule(
            isRepeatable: false, expectation: "must be one of \(list(Sort.self))",
            appleError: AppleErrorName("InvalidSortError", 4_000_021),
            read: { filter, value in
                filter.sort = Sort(rawValue: value)
                return filter.sort != nil
            }),
        "inAppOwnershipType": Rule(
            isRepeatable: false,
            expectation: "must be one of \(list(OwnershipType.self))",
            appleError: AppleErrorName("InvalidInAppOwnershipTypeError", 4_000_026),
            read: { filter, value in
                filter.inAppOwnershipType = OwnershipType(rawValue: value)
                return filter.inAppOwnershipType != nil
            }),
        "revoked": Rule(
            isRepeatable: false, expectation: "must be `true` or `false`",
            appleError: AppleErrorName("InvalidRevokedError", 4_000_030),
            read: { filter, value in
                filter.revoked = Bool(value)
                return filter.revoked != nil
            }),
    ]

    private static func milliseconds(_ text: String) -> Int64? {
        guard let value = Int64(text), value >= 0 else { return nil }
        return value
    }

    private static func list<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> String where T.RawValue == String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }
}
