// What several requests and payloads of the Advanced Commerce API have in common.

package import JSON

/// What every Advanced Commerce request says of itself.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/requestinfo
package struct AdvancedCommerceRequestInfo: WireModel {
    /// A UUID for the transaction.
    package var appAccountToken: String?
    /// From the renewal information of the subscription, as it stands there.
    package var consistencyToken: String?
    /// A UUID; the same one again only when the outcome of a call is unknown.
    package var requestReferenceId: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceRequestInfo>] = [
        .init("appAccountToken", \.appAccountToken),
        .init("consistencyToken", \.consistencyToken),
        .init("requestReferenceId", \.requestReferenceId, isRequired: true),
    ]
}

/// How a subscription is named.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/descriptors
package struct AdvancedCommerceDescriptors: WireModel {
    /// At most 45 characters.
    package var description: String?
    /// At most 30 characters; the customer sees it.
    package var displayName: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceDescriptors>] = [
        .init("description", \.description, isRequired: true),
        .init("displayName", \.displayName, isRequired: true),
    ]
}

/// How long one period of a subscription is, as an ISO 8601 duration.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/period
package struct AdvancedCommercePeriod: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let oneWeek = AdvancedCommercePeriod(rawValue: "P1W")
    package static let oneMonth = AdvancedCommercePeriod(rawValue: "P1M")
    package static let twoMonths = AdvancedCommercePeriod(rawValue: "P2M")
    package static let threeMonths = AdvancedCommercePeriod(rawValue: "P3M")
    package static let sixMonths = AdvancedCommercePeriod(rawValue: "P6M")
    package static let oneYear = AdvancedCommercePeriod(rawValue: "P1Y")

    package static let known = [oneWeek, oneMonth, twoMonths, threeMonths, sixMonths, oneYear]
}

/// A discount for an item of a subscription.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/offer
package struct AdvancedCommerceOffer: WireModel {
    package var period: AdvancedCommerceOfferPeriod?
    /// 1 to 12.
    package var periodCount: Int32?
    /// In milliunits of the currency.
    package var price: Int64?
    package var reason: AdvancedCommerceOfferReason?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceOffer>] = [
        .init("period", \.period, isRequired: true),
        .init("periodCount", \.periodCount, isRequired: true),
        .init("price", \.price, isRequired: true),
        .init("reason", \.reason, isRequired: true),
    ]
}

/// How long one period of an offer is, as an ISO 8601 duration.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/offerperiod
package struct AdvancedCommerceOfferPeriod: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let threeDays = AdvancedCommerceOfferPeriod(rawValue: "P3D")
    package static let oneWeek = AdvancedCommerceOfferPeriod(rawValue: "P1W")
    package static let twoWeeks = AdvancedCommerceOfferPeriod(rawValue: "P2W")
    package static let oneMonth = AdvancedCommerceOfferPeriod(rawValue: "P1M")
    package static let twoMonths = AdvancedCommerceOfferPeriod(rawValue: "P2M")
    package static let threeMonths = AdvancedCommerceOfferPeriod(rawValue: "P3M")
    package static let sixMonths = AdvancedCommerceOfferPeriod(rawValue: "P6M")
    package static let nineMonths = AdvancedCommerceOfferPeriod(rawValue: "P9M")
    package static let oneYear = AdvancedCommerceOfferPeriod(rawValue: "P1Y")

    package static let known = [
        threeDays, oneWeek, twoWeeks, oneMonth, twoMonths, threeMonths, sixMonths, nineMonths, oneYear,
    ]
}

/// What an offer is for.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/offerreason
package struct AdvancedCommerceOfferReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let acquisition = AdvancedCommerceOfferReason(rawValue: "ACQUISITION")
    package static let winBack = AdvancedCommerceOfferReason(rawValue: "WIN_BACK")
    package static let retention = AdvancedCommerceOfferReason(rawValue: "RETENTION")

    package static let known = [acquisition, winBack, retention]
}

/// When a change applies.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/effective
package struct AdvancedCommerceEffective: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let immediately = AdvancedCommerceEffective(rawValue: "IMMEDIATELY")
    package static let nextBillCycle = AdvancedCommerceEffective(rawValue: "NEXT_BILL_CYCLE")

    package static let known = [immediately, nextBillCycle]
}

/// Why an item of a subscription changes.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/reason
package struct AdvancedCommerceReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let upgrade = AdvancedCommerceReason(rawValue: "UPGRADE")
    package static let downgrade = AdvancedCommerceReason(rawValue: "DOWNGRADE")
    package static let applyOffer = AdvancedCommerceReason(rawValue: "APPLY_OFFER")

    package static let known = [upgrade, downgrade, applyOffer]
}

/// Why a purchase is refunded.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/refundreason
package struct AdvancedCommerceRefundReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let unintendedPurchase = AdvancedCommerceRefundReason(rawValue: "UNINTENDED_PURCHASE")
    package static let fulfillmentIssue = AdvancedCommerceRefundReason(rawValue: "FULFILLMENT_ISSUE")
    package static let unsatisfiedWithPurchase = AdvancedCommerceRefundReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
    package static let legal = AdvancedCommerceRefundReason(rawValue: "LEGAL")
    package static let other = AdvancedCommerceRefundReason(rawValue: "OTHER")
    package static let modifyItemsRefund = AdvancedCommerceRefundReason(rawValue: "MODIFY_ITEMS_REFUND")
    package static let simulateRefundDecline = AdvancedCommerceRefundReason(rawValue: "SIMULATE_REFUND_DECLINE")

    package static let known = [
        unintendedPurchase, fulfillmentIssue, unsatisfiedWithPurchase, legal, other, modifyItemsRefund,
        simulateRefundDecline,
    ]
}

/// How much of a price is refunded.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi/refundtype
package struct AdvancedCommerceRefundType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let full = AdvancedCommerceRefundType(rawValue: "FULL")
    package static let prorated = AdvancedCommerceRefundType(rawValue: "PRORATED")
    /// As much as the request says.
    package static let custom = AdvancedCommerceRefundType(rawValue: "CUSTOM")

    package static let known = [full, prorated, custom]
}
