import AppStoreAPI
import Foundation
import JSON

/// What Apple demands of a consumption report, by version; fields first, then what depends on the purchase.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
enum ConsumptionRules {
    /// 100 % in milliunits.
    private static let whole: Int64 = 100_000

    private static let deliveryStatuses: [DeliveryStatus] = [
        .delivered, .undeliveredQualityIssue, .undeliveredWrongItem, .undeliveredServerOutage, .undeliveredOther,
    ]
    private static let refundPreferences: [RefundPreference] = [.decline, .grantFull, .grantProrated]

    /// Checks a report of version 2.
    static func checkV2(_ body: ConsumptionBody, of purchase: TransactionPayload) throws(Refusal) {
        guard purchase.advancedCommerceInfo == nil else { throw .error(.advancedCommerceTransactionNotSupported) }
        guard purchase.inAppOwnershipType != .familyShared else { throw .error(.familyTransactionNotSupported) }
        guard try body.bool("customerConsented", .invalidCustomerConsented) else {
            throw .error(.invalidCustomerConsented)
        }
        let delivery = try body.string(
            "deliveryStatus", in: deliveryStatuses.map(\.rawValue), .invalidDeliveryStatus)
        try body.bool("sampleContentProvided", .invalidSampleContentProvided)
        var preference: String?
        if body.value("refundPreference") != nil {
            preference = try body.string(
                "refundPreference", in: refundPreferences.map(\.rawValue), .invalidRefundPreference)
        }
        guard body.value("consumptionPercentage") != nil else { return }
        let percentage = try body.integer("consumptionPercentage", in: 0...whole, .consumptionPercentageOutOfRange)
        guard purchase.type != .autoRenewableSubscription else {
            throw .error(.consumptionPercentageAutoRenewableSubscription)
        }
        guard delivery == DeliveryStatus.delivered.rawValue || percentage == 0 else {
            throw .error(.undeliveredConsumptionPercentageNonZero)
        }
        guard preference != RefundPreference.grantProrated.rawValue || 1..<whole ~= percentage else {
            throw .error(.invalidRefundPreference, message: "GRANT_PRORATED needs a percentage between 0 and 100000")
        }
    }

    /// Checks a report of version 1.
    static func checkV1(_ body: ConsumptionBody, of purchase: TransactionPayload) throws(Refusal) {
        guard purchase.type == .consumable || purchase.type == .autoRenewableSubscription else {
            throw .error(.invalidTransactionTypeNotSupported)
        }
        guard try body.bool("customerConsented", .invalidCustomerConsented) else {
            throw .error(.invalidCustomerConsented)
        }
        try body.integer("accountTenure", in: 0...7, .invalidAccountTenure)
        guard let token = body.value("appAccountToken")?.string, token.isEmpty || UUID(uuidString: token) != nil else {
            throw .error(.invalidAppAccountToken)
        }
        try body.integer("consumptionStatus", in: 0...3, .invalidConsumptionStatus)
        try body.integer("deliveryStatus", in: 0...5, .invalidDeliveryStatus)
        try body.integer("lifetimeDollarsPurchased", in: 0...7, .invalidLifetimeDollarsPurchased)
        try body.integer("lifetimeDollarsRefunded", in: 0...7, .invalidLifetimeDollarsRefunded)
        try body.integer("platform", in: 0...2, .invalidPlatform)
        try body.integer("playTime", in: 0...7, .invalidPlayTime)
        try body.bool("sampleContentProvided", .invalidSampleContentProvided)
        try body.integer("userStatus", in: 0...4, .invalidUserStatus)
        if body.value("refundPreference") != nil {
            try body.integer("refundPreference", in: 0...3, .invalidRefundPreference)
        }
    }
}
