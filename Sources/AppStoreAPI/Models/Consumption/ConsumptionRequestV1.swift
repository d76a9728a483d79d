package import JSON

/// The body of Send Consumption Information V1, which Apple keeps for purchases made through its Advanced Commerce API.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequestv1
package struct ConsumptionRequestV1: WireModel {
    /// The age of the customer's account.
    package var accountTenure: AccountTenure?
    /// The UUID in the transaction, or the empty string.
    package var appAccountToken: String?
    package var consumptionStatus: ConsumptionStatus?
    /// Apple refuses anything but true.
    package var customerConsented: Bool?
    package var deliveryStatus: DeliveryStatusV1?
    /// What the customer has spent in all.
    package var lifetimeDollarsPurchased: LifetimeDollarsPurchased?
    /// What the customer got back in all.
    package var lifetimeDollarsRefunded: LifetimeDollarsRefunded?
    package var platform: Platform?
    /// How long the customer has used the app.
    package var playTime: PlayTime?
    package var refundPreference: RefundPreferenceV1?
    /// Whether a free sample, a trial or a description of the content came before the purchase.
    package var sampleContentProvided: Bool?
    package var userStatus: UserStatus?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ConsumptionRequestV1>] = [
        .init("accountTenure", \.accountTenure, isRequired: true),
        .init("appAccountToken", \.appAccountToken, isRequired: true),
        .init("consumptionStatus", \.consumptionStatus, isRequired: true),
        .init("customerConsented", \.customerConsented, isRequired: true),
        .init("deliveryStatus", \.deliveryStatus, isRequired: true),
        .init("lifetimeDollarsPurchased", \.lifetimeDollarsPurchased, isRequired: true),
        .init("lifetimeDollarsRefunded", \.lifetimeDollarsRefunded, isRequired: true),
        .init("platform", \.platform, isRequired: true),
        .init("playTime", \.playTime, isRequired: true),
        .init("refundPreference", \.refundPreference),
        .init("sampleContentProvided", \.sampleContentProvided, isRequired: true),
        .init("userStatus", \.userStatus, isRequired: true),
    ]

    /// A whole request, whose codes are given as numbers.
    package init(
        accountTenure: Int32, appAccountToken: String, consumptionStatus: Int32, customerConsented: Bool,
        deliveryStatus: Int32, lifetimeDollarsPurchased: Int32, lifetimeDollarsRefunded: Int32, platform: Int32,
        playTime: Int32, refundPreference: Int32? = nil, sampleContentProvided: Bool, userStatus: Int32
    ) {
        self.accountTenure = AccountTenure(rawValue: accountTenure)
        self.appAccountToken = appAccountToken
        self.consumptionStatus = ConsumptionStatus(rawValue: consumptionStatus)
        self.customerConsented = customerConsented
        self.deliveryStatus = DeliveryStatusV1(rawValue: deliveryStatus)
        self.lifetimeDollarsPurchased = LifetimeDollarsPurchased(rawValue: lifetimeDollarsPurchased)
        self.lifetimeDollarsRefunded = LifetimeDollarsRefunded(rawValue: lifetimeDollarsRefunded)
        self.platform = Platform(rawValue: platform)
        self.playTime = PlayTime(rawValue: playTime)
        self.refundPreference = refundPreference.map(RefundPreferenceV1.init(rawValue:))
        self.sampleContentProvided = sampleContentProvided
        self.userStatus = UserStatus(rawValue: userStatus)
    }
}
