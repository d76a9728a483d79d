package import JSON

/// Where in a commitment a billing period of a subscription stands.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/transactioncommitmentinfo
package struct TransactionCommitmentInfo: WireModel {
    /// 1 to 12.
    package var billingPeriodNumber: Int32?
    /// UNIX milliseconds.
    package var commitmentExpiresDate: Int64?
    /// In milliunits of the currency.
    package var commitmentPrice: Int64?
    package var totalBillingPeriods: Int32?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<TransactionCommitmentInfo>] = [
        .init("billingPeriodNumber", \.billingPeriodNumber),
        .init("commitmentExpiresDate", \.commitmentExpiresDate),
        .init("commitmentPrice", \.commitmentPrice),
        .init("totalBillingPeriods", \.totalBillingPeriods),
    ]
}
