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
