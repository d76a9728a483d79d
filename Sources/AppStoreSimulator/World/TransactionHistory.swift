import AppStoreAPI
import JOSE

extension World {
    /// One page of a customer's history, by last change.
    ///
    /// - Throws: 4000005.
    func historyPage(of customer: Customer, filter: CheckedHistoryQuery, size: Int) throws(AppleServiceError)
        -> UnsignedTransactionPage
    {
        let list = "history \(customer.bundleID) \(customer.accountID) \(filter.canonicalText)"
        let entries = records(of: customer).filter { filter.admits($0.payload) }.map { record in
            let key = Int64(record.modification)
            // The newest first is the same order with the sign turned.
            return Entry(
                position: Revision.Position(key: filter.isDescending ? -key : key, modification: record.modification),
                payload: record.payload)
        }
        return try page(of: entries, list: list, after: filter.revision, size: size)
    }

    /// One page of a customer's refunds, by date.
    ///
    /// - Throws: 4000005.
    func refundPage(of customer: Customer, revision: String?, size: Int) throws(AppleServiceError)
        -> UnsignedTransactionPage
    {
        let list = "refunds \(customer.bundleID) \(customer.accountID)"
        let entries = records(of: customer).filter(\.isRefunded).map { record in
            Entry(
                position: Revision.Position(
                    key: record.payload.revocationDate ?? 0, modification: record.modification),
                payload: record.payload)
        }
        return try page(of: entries, list: list, after: revision, size: size)
    }

    /// The refunds of a customer with the latest dates, the latest first.
    func latestRefunds(of customer: Customer, limit: Int) -> [TransactionPayload] {
        let refunded = records(of: customer).filter(\.isRefunded).sorted {
            ($0.payload.revocationDate ?? 0, $0.modification) > ($1.payload.revocationDate ?? 0, $1.modification)
        }
        return refunded.prefix(limit).map(\.payload)
    }

    private struct Entry {
        let position: Revision.Position
        let payload: TransactionPayload
    }

    private func page(
        of entries: [Entry], list: String, after revision: String?, size: Int
    ) throws(AppleServiceError) -> UnsignedTransactionPage {
        let start: Revision.Position?
        if let revision { start = try Revision(revision, of: list).position } else { start = nil }
        let left = entries.filter { entry in start.map { entry.position > $0 } ?? true }
            .sorted { $0.position < $1.position }
        let page = left.prefix(size)
        let end = page.last?.position ?? start ?? Revision.Position(key: .min, modification: 0)
        return UnsignedTransactionPage(
            transactions: page.map(\.payload), revision: Revision(list: list, position: end),
            hasMore: left.count > page.count)
    }
}

/// A page of a list, before it is signed.
struct UnsignedTransactionPage: Sendable {
    let transactions: [TransactionPayload]
    let revision: Revision
    let hasMore: Bool
}

/// A place in a customer's history, as the text that Apple calls a revision.
///
/// It names the list that it belongs to, so that one of another customer or query is known for what it is.
struct Revision: Sendable, Equatable {
    /// How far the list has been read.
    struct Position: Sendable, Comparable {
        /// What the list is ordered by.
        let key: Int64
        /// Tells apart what has the same key.
        let modification: Int

        static func < (left: Position, right: Position) -> Bool {
            (left.key, left.modification) < (right.key, right.modification)
        }
    }

    let list: String
    let position: Position

    init(list: String, position: Position) {
        self.list = list
        self.position = position
    }

    /// Reads a revision.
    ///
    /// - Throws: Apple's error 4000005 unless it is one of this list.
    init(_ text: String, of list: String) throws(AppleServiceError) {
        let parts = (Base64URL.decode(text) ?? []).split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count == 3, String(decoding: parts[2], as: UTF8.self) == list,
            let key = Int64(String(decoding: parts[0], as: UTF8.self)),
            let modification = Int(String(decoding: parts[1], as: UTF8.self))
        else { throw .error(.invalidRequestRevision) }
        self.init(list: list, position: Position(key: key, modification: modification))
    }

    var text: String { Base64URL.encode(Array("\(position.key) \(position.modification) \(list)".utf8)) }
}

/// The query of Get Transaction History, checked as Apple checks it.
struct CheckedHistoryQuery: Sendable, Equatable {
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
    init(_ query: [QueryItem], leavingOut finished: Set<String> = []) throws(AppleServiceError) {
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
