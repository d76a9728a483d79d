import AppStoreAPI

/// The query of Get Transaction History, checked as Apple checks it.
struct HistoryFilter: Sendable, Equatable {
    private(set) var revision: String?
    private(set) var isDescending = false
    private var startDate: Int64?
    private var endDate: Int64?
    private var productIDs: Set<String> = []
    private var productTypes: Set<ProductType> = []
    private var subscriptionGroups: Set<String> = []
    private var ownership: InAppOwnershipType?
    private var revoked: Bool?
    /// Takes out what `revoked` may have let through.
    private var excludesRevoked = false
    /// The finished transactions that are left out if they are consumables.
    private let finished: Set<String>

    /// Reads the query; parameters that Apple does not know are passed over.
    ///
    /// - Parameters:
    ///   - query: the parameters.
    ///   - finished: the transactions to leave out if they are consumables and not revoked.
    /// - Throws: the error that Apple has for the first parameter that is wrong.
    init(_ query: [QueryItem], leavingOut finished: Set<String> = []) throws(Refusal) {
        self.finished = finished
        var seen: Set<String> = []
        for item in query {
            guard let error = Self.errors[item.name] else { continue }
            let isRepeated = !seen.insert(item.name).inserted
            guard !isRepeated || Self.repeatable.contains(item.name), read(item) else { throw .error(error) }
        }
        if let startDate, let endDate, endDate <= startDate { throw .error(.startDateAfterEndDate) }
    }

    /// Whether a transaction passes.
    func admits(_ payload: TransactionPayload) -> Bool {
        let purchaseDate = payload.purchaseDate ?? 0
        if let startDate, purchaseDate < startDate { return false }
        if let endDate, purchaseDate >= endDate { return false }
        if !productIDs.isEmpty, !productIDs.contains(payload.productId ?? "") { return false }
        if !productTypes.isEmpty, !(payload.type.map(productTypes.contains) ?? false) { return false }
        if !subscriptionGroups.isEmpty, !subscriptionGroups.contains(payload.subscriptionGroupIdentifier ?? "") {
            return false
        }
        if let ownership, payload.inAppOwnershipType != ownership { return false }
        if let revoked, (payload.revocationDate != nil) != revoked { return false }
        if excludesRevoked, payload.revocationDate != nil { return false }
        return payload.type != .consumable || payload.revocationDate != nil
            || !finished.contains(payload.transactionId ?? "")
    }

    /// All parameters but the revision as one text, the same for equal filters: a revision is good only for its own query.
    var canonicalText: String {
        let parts: [String] = [
            isDescending ? "descending" : "ascending", startDate.map { String($0) } ?? "",
            endDate.map { String($0) } ?? "", productIDs.sorted().joined(separator: ","),
            productTypes.map(\.rawValue).sorted().joined(separator: ","),
            subscriptionGroups.sorted().joined(separator: ","), ownership?.rawValue ?? "",
            revoked.map { String($0) } ?? "", excludesRevoked ? "unrevoked" : "",
        ]
        return parts.joined(separator: ";")
    }

    private static let errors: [String: APIErrorCode] = [
        "revision": .invalidRequestRevision, "startDate": .invalidStartDate, "endDate": .invalidEndDate,
        "productId": .invalidProductId, "productType": .invalidProductType, "sort": .invalidSort,
        "subscriptionGroupIdentifier": .invalidSubscriptionGroupIdentifier,
        "inAppOwnershipType": .invalidInAppOwnershipType, "revoked": .invalidRevoked,
        "excludeRevoked": .invalidExcludeRevoked,
    ]

    private static let repeatable: Set<String> = ["productId", "productType", "subscriptionGroupIdentifier"]

    /// The filter's names of the product types differ from those in transactions.
    private static let types: [HistoryQuery.ProductTypeFilter: ProductType] = [
        .autoRenewable: .autoRenewableSubscription, .nonRenewable: .nonRenewingSubscription,
        .consumable: .consumable, .nonConsumable: .nonConsumable,
    ]

    /// Takes a parameter; false if its value is wrong.
    private mutating func read(_ item: QueryItem) -> Bool {
        switch item.name {
        case "revision":
            revision = item.value
        case "startDate":
            startDate = Int64(item.value)
            return startDate.map { $0 >= 0 } ?? false
        case "endDate":
            endDate = Int64(item.value)
            return endDate.map { $0 >= 0 } ?? false
        case "productId":
            productIDs.insert(item.value)
        case "productType":
            guard let type = HistoryQuery.ProductTypeFilter(rawValue: item.value).flatMap({ Self.types[$0] }) else {
                return false
            }
            productTypes.insert(type)
        case "sort":
            guard let sort = HistoryQuery.SortOrder(rawValue: item.value) else { return false }
            isDescending = sort == .descending
        case "subscriptionGroupIdentifier":
            subscriptionGroups.insert(item.value)
        case "inAppOwnershipType":
            let type = InAppOwnershipType(rawValue: item.value)
            ownership = type
            return type == .purchased || type == .familyShared
        case "revoked":
            // Apple's Python library writes `True` and `False`.
            revoked = Bool(item.value.lowercased())
            return revoked != nil
        case "excludeRevoked":
            guard let value = Bool(item.value.lowercased()) else { return false }
            excludesRevoked = value
        default:
            break
        }
        return !item.value.isEmpty
    }
}
