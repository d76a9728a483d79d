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
    package var additional: [UntrustedText: JSONValue] = [:]

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

/// The age of a customer's account, in days.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/accounttenure
package struct AccountTenure: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = AccountTenure(rawValue: 0)
    package static let zeroToThreeDays = AccountTenure(rawValue: 1)
    package static let threeToTenDays = AccountTenure(rawValue: 2)
    package static let tenToThirtyDays = AccountTenure(rawValue: 3)
    package static let thirtyToNinetyDays = AccountTenure(rawValue: 4)
    package static let ninetyTo180Days = AccountTenure(rawValue: 5)
    package static let from180To365Days = AccountTenure(rawValue: 6)
    package static let over365Days = AccountTenure(rawValue: 7)

    package static let known = [
        undeclared, zeroToThreeDays, threeToTenDays, tenToThirtyDays, thirtyToNinetyDays, ninetyTo180Days,
        from180To365Days, over365Days,
    ]
}

/// How much of a purchase has been used up.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionstatus
package struct ConsumptionStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = ConsumptionStatus(rawValue: 0)
    package static let notConsumed = ConsumptionStatus(rawValue: 1)
    package static let partiallyConsumed = ConsumptionStatus(rawValue: 2)
    /// Also what was traded away or moved to another account.
    package static let fullyConsumed = ConsumptionStatus(rawValue: 3)

    package static let known = [undeclared, notConsumed, partiallyConsumed, fullyConsumed]
}

/// Whether the app delivered a working purchase, in version 1 of a consumption answer.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/deliverystatusv1
package struct DeliveryStatusV1: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let deliveredAndWorkingProperly = DeliveryStatusV1(rawValue: 0)
    package static let didNotDeliverDueToQualityIssue = DeliveryStatusV1(rawValue: 1)
    package static let deliveredWrongItem = DeliveryStatusV1(rawValue: 2)
    package static let didNotDeliverDueToServerOutage = DeliveryStatusV1(rawValue: 3)
    package static let didNotDeliverDueToInGameCurrencyChange = DeliveryStatusV1(rawValue: 4)
    package static let didNotDeliverForOtherReason = DeliveryStatusV1(rawValue: 5)

    package static let known = [
        deliveredAndWorkingProperly, didNotDeliverDueToQualityIssue, deliveredWrongItem, didNotDeliverDueToServerOutage,
        didNotDeliverDueToInGameCurrencyChange, didNotDeliverForOtherReason,
    ]
}

/// What a customer has spent in the app on all platforms, in US dollars.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/lifetimedollarspurchased
package struct LifetimeDollarsPurchased: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = LifetimeDollarsPurchased(rawValue: 0)
    package static let nothing = LifetimeDollarsPurchased(rawValue: 1)
    package static let under50 = LifetimeDollarsPurchased(rawValue: 2)
    /// 50 and more.
    package static let under100 = LifetimeDollarsPurchased(rawValue: 3)
    /// 100 and more.
    package static let under500 = LifetimeDollarsPurchased(rawValue: 4)
    /// 500 and more.
    package static let under1000 = LifetimeDollarsPurchased(rawValue: 5)
    /// 1,000 and more.
    package static let under2000 = LifetimeDollarsPurchased(rawValue: 6)
    package static let from2000 = LifetimeDollarsPurchased(rawValue: 7)

    package static let known = [undeclared, nothing, under50, under100, under500, under1000, under2000, from2000]
}

/// What a customer got back for purchases in the app on all platforms, in US dollars.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/lifetimedollarsrefunded
package struct LifetimeDollarsRefunded: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = LifetimeDollarsRefunded(rawValue: 0)
    package static let nothing = LifetimeDollarsRefunded(rawValue: 1)
    package static let under50 = LifetimeDollarsRefunded(rawValue: 2)
    /// 50 and more.
    package static let under100 = LifetimeDollarsRefunded(rawValue: 3)
    /// 100 and more.
    package static let under500 = LifetimeDollarsRefunded(rawValue: 4)
    /// 500 and more.
    package static let under1000 = LifetimeDollarsRefunded(rawValue: 5)
    /// 1,000 and more.
    package static let under2000 = LifetimeDollarsRefunded(rawValue: 6)
    package static let from2000 = LifetimeDollarsRefunded(rawValue: 7)

    package static let known = [undeclared, nothing, under50, under100, under500, under1000, under2000, from2000]
}

/// On which platform a purchase was used.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/platform
package struct Platform: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = Platform(rawValue: 0)
    package static let apple = Platform(rawValue: 1)
    package static let nonApple = Platform(rawValue: 2)

    package static let known = [undeclared, apple, nonApple]
}

/// How long a customer has used an app.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/playtime
package struct PlayTime: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = PlayTime(rawValue: 0)
    package static let upToFiveMinutes = PlayTime(rawValue: 1)
    package static let fiveToSixtyMinutes = PlayTime(rawValue: 2)
    package static let oneToSixHours = PlayTime(rawValue: 3)
    package static let sixHoursToOneDay = PlayTime(rawValue: 4)
    package static let oneToFourDays = PlayTime(rawValue: 5)
    package static let fourToSixteenDays = PlayTime(rawValue: 6)
    package static let overSixteenDays = PlayTime(rawValue: 7)

    package static let known = [
        undeclared, upToFiveMinutes, fiveToSixtyMinutes, oneToSixHours, sixHoursToOneDay, oneToFourDays,
        fourToSixteenDays, overSixteenDays,
    ]
}

/// What the company would like Apple to decide, in version 1 of a consumption answer.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/refundpreferencev1
package struct RefundPreferenceV1: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = RefundPreferenceV1(rawValue: 0)
    package static let preferGrant = RefundPreferenceV1(rawValue: 1)
    package static let preferDecline = RefundPreferenceV1(rawValue: 2)
    package static let noPreference = RefundPreferenceV1(rawValue: 3)

    package static let known = [undeclared, preferGrant, preferDecline, noPreference]
}

/// What became of the customer's account with the company.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/userstatus
package struct UserStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = UserStatus(rawValue: 0)
    package static let active = UserStatus(rawValue: 1)
    package static let suspended = UserStatus(rawValue: 2)
    package static let terminated = UserStatus(rawValue: 3)
    package static let limitedAccess = UserStatus(rawValue: 4)

    package static let known = [undeclared, active, suspended, terminated, limitedAccess]
}
