import AppStoreAPI
import Foundation
import JSON

/// What Apple demands of a consumption report, by version; fields first, then what depends on the purchase.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
enum ConsumptionRequestRules {
    /// 100 % in milliunits.
    private static let whole: Int64 = 100_000

    private static let deliveryStatuses: [DeliveryStatus] = [
        .delivered, .undeliveredQualityIssue, .undeliveredWrongItem, .undeliveredServerOutage, .undeliveredOther,
    ]
    private static let refundPreferences: [RefundPreference] = [.decline, .grantFull, .grantProrated]

    /// Checks a report of version 2.
    static func checkV2(_ body: ConsumptionRequestBody, of purchase: TransactionPayload) throws(AppleServiceError) {
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
    static func checkV1(_ body: ConsumptionRequestBody, of purchase: TransactionPayload) throws(AppleServiceError) {
        guard purchase.type == .consumable || purchase.type == .autoRenewableSubscription else {
            throw .error(.invalidTransactionTypeNotSupported)
        }
        guard try body.bool("customerConsented", .invalidCustomerConsented) else {
            throw .error(.invalidCustomerConsented)
        }
        try body.integer("accountTenure", in: 0...7, .invalidAccountTenure)
        guard let token = body.value("appAccountToken")?.string?.streamSafe,
            token.isEmpty || UUID(uuidString: token) != nil
        else {
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

/// Reads the members of a consumption report and knows which of Apple's errors goes with each.
struct ConsumptionRequestBody {
    private let members: JSONMembers

    /// - Throws: 400 without a number for anything but one JSON object.
    init(_ body: [UInt8]) throws(AppleServiceError) {
        do throws(JSONError) {
            members = try JSONScanner.members(of: body)
        } catch {
            throw .malformed(status: 400, "the body is not one JSON object: \(error)")
        }
    }

    /// The value of a member; an explicit null counts as absent.
    func value(_ name: String) -> JSONSlice? {
        guard let value = members[name], !value.isNull else { return nil }
        return value
    }

    /// Checks that a required member is a boolean.
    @discardableResult
    func bool(_ name: String, _ error: APIErrorCode) throws(AppleServiceError) -> Bool {
        guard let value = value(name)?.bool else { throw .error(error) }
        return value
    }

    /// Checks that a required member is one of the strings.
    @discardableResult
    func string(_ name: String, in allowed: [String], _ error: APIErrorCode) throws(AppleServiceError) -> String {
        guard let value = value(name)?.string?.streamSafe, allowed.contains(value) else { throw .error(error) }
        return value
    }

    /// Checks that a required member is an integer in a range.
    @discardableResult
    func integer(_ name: String, in range: ClosedRange<Int64>, _ error: APIErrorCode) throws(AppleServiceError) -> Int64
    {
        guard let value = value(name)?.int64, range.contains(value) else { throw .error(error) }
        return value
    }
}
