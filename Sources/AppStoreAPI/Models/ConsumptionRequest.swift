package import JSON

/// The body of Send Consumption Information, version 2.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest
package struct ConsumptionRequest: WireModel {
    /// Apple refuses anything but true.
    package var customerConsented: Bool?
    package var deliveryStatus: DeliveryStatus?
    /// Whether a free sample, a trial or a description of the content came before the purchase.
    package var sampleContentProvided: Bool?
    /// In milliunits: 100,000 is 100 %.
    package var consumptionPercentage: Int32?
    package var refundPreference: RefundPreference?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ConsumptionRequest>] = [
        .init("customerConsented", \.customerConsented, isRequired: true),
        .init("deliveryStatus", \.deliveryStatus, isRequired: true),
        .init("sampleContentProvided", \.sampleContentProvided, isRequired: true),
        .init("consumptionPercentage", \.consumptionPercentage),
        .init("refundPreference", \.refundPreference),
    ]

    package init(
        customerConsented: Bool, deliveryStatus: DeliveryStatus, sampleContentProvided: Bool,
        consumptionPercentage: Int32? = nil, refundPreference: RefundPreference? = nil,
        additional: [UntrustedText: JSONValue] = [:]
    ) {
        self.customerConsented = customerConsented
        self.deliveryStatus = deliveryStatus
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
        self.additional = additional
    }
}

/// Whether the app delivered a working purchase, in version 2 of a consumption answer.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/deliverystatus
package struct DeliveryStatus: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let delivered = DeliveryStatus(rawValue: "DELIVERED")
    package static let undeliveredQualityIssue = DeliveryStatus(rawValue: "UNDELIVERED_QUALITY_ISSUE")
    package static let undeliveredWrongItem = DeliveryStatus(rawValue: "UNDELIVERED_WRONG_ITEM")
    package static let undeliveredServerOutage = DeliveryStatus(rawValue: "UNDELIVERED_SERVER_OUTAGE")
    package static let undeliveredOther = DeliveryStatus(rawValue: "UNDELIVERED_OTHER")

    package static let known = [
        delivered, undeliveredQualityIssue, undeliveredWrongItem, undeliveredServerOutage, undeliveredOther,
    ]
}

/// What the company would like Apple to decide, in version 2 of a consumption answer.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/refundpreference
package struct RefundPreference: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let decline = RefundPreference(rawValue: "DECLINE")
    package static let grantFull = RefundPreference(rawValue: "GRANT_FULL")
    package static let grantProrated = RefundPreference(rawValue: "GRANT_PRORATED")

    package static let known = [decline, grantFull, grantProrated]
}
