package import JSON

/// The body of Send Consumption Information, version 2.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest
package struct ConsumptionRequest: Sendable, Equatable {
    /// Apple refuses anything but true.
    package var customerConsented: Bool
    package var deliveryStatus: DeliveryStatus
    /// Whether a free sample, a trial or a description of the content came before the purchase.
    package var sampleContentProvided: Bool
    /// In milliunits: 100,000 is 100 %.
    package var consumptionPercentage: Int32?
    package var refundPreference: RefundPreference?
    /// Members that Apple has added since and that the sender wants to pass on.
    package var additional: [String: JSONValue]

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

    /// The body; equal requests give the same bytes.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("customerConsented", customerConsented)
            writer.member("deliveryStatus", deliveryStatus)
            writer.member("sampleContentProvided", sampleContentProvided)
            writer.memberIfPresent("consumptionPercentage", consumptionPercentage)
            writer.memberIfPresent("refundPreference", refundPreference)
            for (name, value) in additional.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
        }
        return writer.bytes
    }
}
