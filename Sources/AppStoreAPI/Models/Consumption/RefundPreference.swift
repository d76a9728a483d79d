/// What the company would like Apple to decide, in version 2 of a consumption answer.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/refundpreference
package struct RefundPreference: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let decline = RefundPreference(rawValue: "DECLINE")
    package static let grantFull = RefundPreference(rawValue: "GRANT_FULL")
    package static let grantProrated = RefundPreference(rawValue: "GRANT_PRORATED")

    package static let known = [decline, grantFull, grantProrated]
}
