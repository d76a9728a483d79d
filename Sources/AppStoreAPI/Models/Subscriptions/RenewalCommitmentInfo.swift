package import JSON

/// What happens at the end of a commitment, in renewal information.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/renewalcommitmentinfo
package struct RenewalCommitmentInfo: WireModel {
    package var commitmentAutoRenewProductId: String?
    package var commitmentAutoRenewStatus: AutoRenewStatus?
    package var commitmentRenewalBillingPlanType: RenewalBillingPlanType?
    /// UNIX milliseconds.
    package var commitmentRenewalDate: Int64?
    /// In milliunits of the currency.
    package var commitmentRenewalPrice: Int64?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RenewalCommitmentInfo>] = [
        .init("commitmentAutoRenewProductId", \.commitmentAutoRenewProductId),
        .init("commitmentAutoRenewStatus", \.commitmentAutoRenewStatus),
        .init("commitmentRenewalBillingPlanType", \.commitmentRenewalBillingPlanType),
        .init("commitmentRenewalDate", \.commitmentRenewalDate),
        .init("commitmentRenewalPrice", \.commitmentRenewalPrice),
    ]
}
