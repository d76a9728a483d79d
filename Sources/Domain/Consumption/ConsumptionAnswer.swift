/// A checked answer to a consumption request, ready to be sent.
package enum ConsumptionAnswer: Sendable, Equatable {
    /// For every purchase but those made through Advanced Commerce.
    case v2(ConsumptionV2)
    /// For purchases made through Advanced Commerce; deprecated, but taken, for all others.
    case v1(ConsumptionV1)

    /// Apple's version of the endpoint that takes it.
    package var version: DeliveryVersion {
        switch self {
        case .v2: .v2
        case .v1: .v1
        }
    }

    /// What it asks Apple for; nil where it leaves that to Apple.
    ///
    /// Version 1 knows no part of a refund.
    package var refundPreference: ConsumptionV2.RefundPreference? {
        switch self {
        case .v2(let fields): fields.refundPreference
        case .v1(let fields):
            switch fields.refundPreference {
            case 1: .grantFull
            case 2: .decline
            default: nil
            }
        }
    }
}

/// The fields of Apple's `ConsumptionRequest`.
///
/// `customerConsented` is not among them: without consent there is no answer.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest
package struct ConsumptionV2: Sendable, Equatable {
    package enum DeliveryStatus: String, Sendable, CaseIterable {
        case delivered = "DELIVERED"
        case undeliveredQualityIssue = "UNDELIVERED_QUALITY_ISSUE"
        case undeliveredWrongItem = "UNDELIVERED_WRONG_ITEM"
        case undeliveredServerOutage = "UNDELIVERED_SERVER_OUTAGE"
        case undeliveredOther = "UNDELIVERED_OTHER"
    }

    package enum RefundPreference: String, Sendable, CaseIterable {
        case decline = "DECLINE"
        case grantFull = "GRANT_FULL"
        case grantProrated = "GRANT_PRORATED"
    }

    package let deliveryStatus: DeliveryStatus
    package let sampleContentProvided: Bool
    /// In milliunits: 100,000 is 100 %.
    package var consumptionPercentage: Int32?
    package let refundPreference: RefundPreference?
    /// Fields that Apple added after this release and that the app's configuration lets through.
    package let additional: [String: FieldValue]

    package init(
        deliveryStatus: DeliveryStatus, sampleContentProvided: Bool, consumptionPercentage: Int32? = nil,
        refundPreference: RefundPreference? = nil, additional: [String: FieldValue] = [:]
    ) {
        self.deliveryStatus = deliveryStatus
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
        self.additional = additional
    }
}

/// The fields of Apple's `ConsumptionRequestV1`, without `customerConsented`.
///
/// The integers are Apple's codes, not amounts: a bucket of days, minutes or dollars each.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequestv1
package struct ConsumptionV1: Sendable, Equatable {
    package let accountTenure: Int32
    /// A UUID, or the empty string for none.
    package let appAccountToken: String
    package let consumptionStatus: Int32
    package let deliveryStatus: Int32
    package let lifetimeDollarsPurchased: Int32
    package let lifetimeDollarsRefunded: Int32
    package let platform: Int32
    package let playTime: Int32
    package let refundPreference: Int32?
    package let sampleContentProvided: Bool
    package let userStatus: Int32

    package init(
        accountTenure: Int32, appAccountToken: String, consumptionStatus: Int32, deliveryStatus: Int32,
        lifetimeDollarsPurchased: Int32, lifetimeDollarsRefunded: Int32, platform: Int32, playTime: Int32,
        refundPreference: Int32?, sampleContentProvided: Bool, userStatus: Int32
    ) {
        self.accountTenure = accountTenure
        self.appAccountToken = appAccountToken
        self.consumptionStatus = consumptionStatus
        self.deliveryStatus = deliveryStatus
        self.lifetimeDollarsPurchased = lifetimeDollarsPurchased
        self.lifetimeDollarsRefunded = lifetimeDollarsRefunded
        self.platform = platform
        self.playTime = playTime
        self.refundPreference = refundPreference
        self.sampleContentProvided = sampleContentProvided
        self.userStatus = userStatus
    }
}
