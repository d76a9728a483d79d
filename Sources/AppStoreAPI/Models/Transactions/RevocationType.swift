/// What a revocation took back.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/revocationtype
package struct RevocationType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let refundFull = RevocationType(rawValue: "REFUND_FULL")
    /// A part; `revocationPercentage` says how much.
    package static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
    /// Access through Family Sharing, without a refund.
    package static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")

    package static let known = [refundFull, refundProrated, familyRevoke]
}
