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
    package var additional: [String: JSONValue] = [:]

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
        additional: [String: JSONValue] = [:]
    ) {
        self.customerConsented = customerConsented
        self.deliveryStatus = deliveryStatus
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
        self.additional = additional
    }
}
