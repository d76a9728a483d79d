/// What the company would like Apple to decide, in version 1 of a consumption answer.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/refundpreferencev1
package struct RefundPreferenceV1: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = RefundPreferenceV1(rawValue: 0)
    package static let preferGrant = RefundPreferenceV1(rawValue: 1)
    package static let preferDecline = RefundPreferenceV1(rawValue: 2)
    package static let noPreference = RefundPreferenceV1(rawValue: 3)

    package static let known = [undeclared, preferGrant, preferDecline, noPreference]
}
