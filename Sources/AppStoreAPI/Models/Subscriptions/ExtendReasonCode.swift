/// Why a renewal date is extended.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/extendreasoncode
package struct ExtendReasonCode: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = ExtendReasonCode(rawValue: 0)
    package static let customerSatisfaction = ExtendReasonCode(rawValue: 1)
    package static let other = ExtendReasonCode(rawValue: 2)
    package static let serviceIssueOrOutage = ExtendReasonCode(rawValue: 3)

    package static let known = [undeclared, customerSatisfaction, other, serviceIssueOrOutage]
}
