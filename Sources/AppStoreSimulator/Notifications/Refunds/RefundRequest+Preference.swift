import AppStoreAPI
import JSON

extension RefundRequest.Decision {
    /// What consumption information asks for, of either version; nil when it has no preference.
    init?(_ body: ConsumptionBody) {
        guard let preference = body.value("refundPreference") else { return nil }
        let consumed = body.value("consumptionPercentage")?.int64 ?? 0
        switch (preference.string, preference.int64) {
        case (RefundPreference.decline.rawValue, _), (_, 2): self = .decline
        case (RefundPreference.grantFull.rawValue, _), (_, 1): self = .refund(percentage: Refund.whole)
        case (RefundPreference.grantProrated.rawValue, _):
            self = .refund(percentage: max(1, Refund.whole - Int32(consumed)))
        default: return nil
        }
    }
}
