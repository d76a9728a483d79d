import Foundation

/// For which refund requests a rule is: those that meet all of its conditions.
///
/// One that is left out is met by every request; one about what is not known is met by none.
package struct RefundMatch: Sendable, Equatable {
    /// From a value, included, to another, excluded; nil: no bound.
    package struct Bounds<Value: Comparable & Sendable & Hashable>: Sendable, Hashable {
        package let atLeast: Value?
        package let below: Value?

        package init(atLeast: Value? = nil, below: Value? = nil) {
            self.atLeast = atLeast
            self.below = below
        }

        func contains(_ value: Value) -> Bool {
            atLeast.map { value >= $0 } ?? true && below.map { value < $0 } ?? true
        }

        /// Whether all that lies within others lies within these.
        func contains(_ others: Bounds) -> Bool {
            let isLowEnough = atLeast.map { least in others.atLeast.map { $0 >= least } ?? false } ?? true
            let isHighEnough = below.map { end in others.below.map { $0 <= end } ?? false } ?? true
            return isLowEnough && isHighEnough
        }
    }

    /// A product id, or the beginning of several.
    package struct ProductPattern: Sendable, Hashable {
        /// Apple's product id; with `*` at the end, every one that begins so.
        package let text: String
        package init(_ text: String) { self.text = text }

        func matches(_ productID: String) -> Bool {
            text.hasSuffix("*") ? productID.hasPrefix(text.dropLast()) : productID == text
        }

        /// Whether it matches whatever another one matches.
        func covers(_ other: ProductPattern) -> Bool {
            other.text.hasSuffix("*")
                ? text.hasSuffix("*") && other.text.dropLast().hasPrefix(text.dropLast()) : matches(other.text)
        }
    }

    package var products: [ProductPattern] = []
    package var productTypes: Set<ProductType> = []
    /// ISO 3166-1 alpha-3.
    package var storefronts: Set<String> = []
    /// In thousandths of each currency (ISO 4217).
    package var prices: [String: Bounds<Int64>] = [:]
    /// Apple's `consumptionRequestReason`.
    package var reasons: Set<String> = []
    /// From the purchase to Apple's request.
    package var purchaseAge: Bounds<Duration>?
    /// How many other purchases of the owner were refunded.
    package var refunds: Bounds<Int>?
    /// As reported, in milliunits.
    package var consumptionPercentage: Bounds<Int32>?
    /// As reported.
    package var deliveryStatuses: Set<ConsumptionV2.DeliveryStatus> = []
    package var environments: Set<AppStoreEnvironment> = []

    package init() {}

    /// Whether it looks at what was reported of the purchase's use.
    var readsUsage: Bool { consumptionPercentage != nil || !deliveryStatuses.isEmpty }

    /// The names of its conditions.
    package var names: [String] { conditions.filter(\.isGiven).map(\.name) }

    private var conditions: [(name: String, isGiven: Bool)] {
        [
            ("productId", !products.isEmpty), ("productType", !productTypes.isEmpty),
            ("storefront", !storefronts.isEmpty), ("price", !prices.isEmpty), ("reason", !reasons.isEmpty),
            ("purchaseAge", purchaseAge != nil), ("refunds", refunds != nil),
            ("consumptionPercentage", consumptionPercentage != nil), ("deliveryStatus", !deliveryStatuses.isEmpty),
            ("environment", !environments.isEmpty),
        ]
    }
}

// MARK: Meeting

extension RefundMatch {
    /// Why a request does not meet it; nil if it does.
    func misfit(_ facts: RefundPolicy.Facts) -> String? {
        let refundCase = facts.refundCase
        return misfit(refundCase.purchase) ?? misfit(refundCase.terms)
            ?? Self.misfit("reason", refundCase.reason, in: reasons)
            ?? Self.misfit(
                "purchaseAge",
                Duration.seconds(refundCase.requestedAt.timeIntervalSince(refundCase.purchase.purchaseDate)),
                in: purchaseAge)
            ?? Self.misfit("refunds", facts.refunds, in: refunds)
            ?? misfit(facts.usage?.facts ?? UsageFacts())
            ?? Self.misfit("environment", refundCase.environment, in: environments)
    }

    private func misfit(_ purchase: PurchaseFacts) -> String? {
        let product = Self.misfit("productId", purchase.productID, isGiven: !products.isEmpty) { id in
            products.contains { $0.matches(id) }
        }
        return product ?? Self.misfit("productType", purchase.productType, in: productTypes)
    }

    private func misfit(_ terms: PurchaseTerms) -> String? {
        if let storefront = Self.misfit("storefront", terms.storefront, in: storefronts) { return storefront }
        let currency = Self.misfit("currency", terms.currency, isGiven: !prices.isEmpty) { prices[$0] != nil }
        return currency
            ?? Self.misfit("price", terms.price, isGiven: !prices.isEmpty) { price in
                terms.currency.flatMap { prices[$0] }?.contains(price) ?? false
            }
    }

    private func misfit(_ usage: UsageFacts) -> String? {
        Self.misfit("consumptionPercentage", usage.consumptionPercentage, in: consumptionPercentage)
            ?? Self.misfit("deliveryStatus", usage.deliveryStatus, in: deliveryStatuses)
    }

    private static func misfit<Value>(
        _ name: String, _ value: Value?, isGiven: Bool, _ isMet: (Value) -> Bool
    ) -> String? {
        guard isGiven else { return nil }
        guard let value else { return "`\(name)` is not known" }
        return isMet(value) ? nil : "`\(name)` is another one"
    }

    private static func misfit<Value: Hashable>(_ name: String, _ value: Value?, in set: Set<Value>) -> String? {
        misfit(name, value, isGiven: !set.isEmpty, set.contains)
    }

    private static func misfit<Value>(_ name: String, _ value: Value?, in bounds: Bounds<Value>?) -> String? {
        misfit(name, value, isGiven: bounds != nil) { bounds?.contains($0) ?? true }
    }
}

// MARK: Covering

extension RefundMatch {
    /// Whether every request that meets another match meets this one too.
    func covers(_ other: RefundMatch) -> Bool {
        Self.covers(productTypes, other.productTypes) && Self.covers(storefronts, other.storefronts)
            && Self.covers(reasons, other.reasons) && Self.covers(environments, other.environments)
            && Self.covers(deliveryStatuses, other.deliveryStatuses)
            && (products.isEmpty
                || !other.products.isEmpty
                    && other.products.allSatisfy { product in products.contains { $0.covers(product) } })
            && (prices.isEmpty
                || !other.prices.isEmpty
                    && other.prices.allSatisfy { currency, bounds in prices[currency]?.contains(bounds) ?? false })
            && Self.covers(purchaseAge, other.purchaseAge) && Self.covers(refunds, other.refunds)
            && Self.covers(consumptionPercentage, other.consumptionPercentage)
    }

    private static func covers<Value>(_ mine: Set<Value>, _ others: Set<Value>) -> Bool {
        mine.isEmpty || !others.isEmpty && others.isSubset(of: mine)
    }

    private static func covers<Value>(_ mine: Bounds<Value>?, _ others: Bounds<Value>?) -> Bool {
        guard let mine else { return true }
        return others.map(mine.contains(_:)) ?? false
    }
}
