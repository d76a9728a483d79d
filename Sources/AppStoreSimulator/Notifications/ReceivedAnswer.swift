package import AppStoreAPI
import JSON

/// What an app's consumption information says, of either version, as far as Apple's decision looks at it.
package struct ReceivedAnswer: Sendable, Hashable {
    /// Version 1's numbers for what the app prefers; they are not named elsewhere, since nobody else reads them.
    private enum Version1 {
        static let grant: Int64 = 1
        static let decline: Int64 = 2
        static let delivered: Int64 = 0
        /// By `consumptionStatus`, in milliunits: not, partly, fully consumed.
        static let consumed: [Int64: Int32] = [1: 0, 2: Refund.whole / 2, 3: Refund.whole]
    }

    /// Nil when the app has none, which version 1 can say in so many words.
    package let preference: RefundPreference?
    /// The share of the purchase that was used, in milliunits; nil when the app does not say.
    package let consumed: Int32?
    package let isDelivered: Bool

    package init(preference: RefundPreference? = nil, consumed: Int32? = nil, isDelivered: Bool = true) {
        self.preference = preference
        self.consumed = consumed
        self.isDelivered = isDelivered
    }

    /// Reads a body that has passed Apple's rules.
    init(_ body: ConsumptionRequestBody) {
        let preference = body.value("refundPreference")
        self.preference =
            switch preference?.int64 {
            case Version1.grant: .grantFull
            case Version1.decline: .decline
            default: preference?.string.map { RefundPreference(rawValue: $0.streamSafe) }
            }
        consumed =
            body.value("consumptionPercentage")?.int64.map { Int32(clamping: $0) }
            ?? body.value("consumptionStatus")?.int64.flatMap { Version1.consumed[$0] }
        let delivery = body.value("deliveryStatus")
        isDelivered =
            delivery?.int64.map { $0 == Version1.delivered }
            ?? (delivery?.string?.streamSafe == DeliveryStatus.delivered.rawValue)
    }
}
