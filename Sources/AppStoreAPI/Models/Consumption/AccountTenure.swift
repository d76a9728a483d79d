/// The age of a customer's account, in days.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/accounttenure
package struct AccountTenure: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = AccountTenure(rawValue: 0)
    package static let zeroToThreeDays = AccountTenure(rawValue: 1)
    package static let threeToTenDays = AccountTenure(rawValue: 2)
    package static let tenToThirtyDays = AccountTenure(rawValue: 3)
    package static let thirtyToNinetyDays = AccountTenure(rawValue: 4)
    package static let ninetyTo180Days = AccountTenure(rawValue: 5)
    package static let from180To365Days = AccountTenure(rawValue: 6)
    package static let over365Days = AccountTenure(rawValue: 7)

    package static let known = [
        undeclared, zeroToThreeDays, threeToTenDays, tenToThirtyDays, thirtyToNinetyDays, ninetyTo180Days,
        from180To365Days, over365Days,
    ]
}
