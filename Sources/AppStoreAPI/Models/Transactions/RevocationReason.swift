/// Why a purchase was refunded or revoked.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/revocationreason
package struct RevocationReason: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Any other reason; also when a Family Sharing access ended.
    package static let otherReason = RevocationReason(rawValue: 0)
    /// An actual or perceived issue within the app.
    package static let issue = RevocationReason(rawValue: 1)

    package static let known = [otherReason, issue]
}
