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
