/// Whether the customer accepts a price increase.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/priceincreasestatus
package struct PriceIncreaseStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let customerHasNotResponded = PriceIncreaseStatus(rawValue: 0)
    /// Also where a notice is enough and no consent is needed.
    package static let customerConsentedOrWasNotified = PriceIncreaseStatus(rawValue: 1)

    package static let known = [customerHasNotResponded, customerConsentedOrWasNotified]
}
