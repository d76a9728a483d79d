/// What a customer has spent in the app on all platforms, in US dollars.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/lifetimedollarspurchased
package struct LifetimeDollarsPurchased: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = LifetimeDollarsPurchased(rawValue: 0)
    package static let nothing = LifetimeDollarsPurchased(rawValue: 1)
    package static let under50 = LifetimeDollarsPurchased(rawValue: 2)
    /// 50 and more.
    package static let under100 = LifetimeDollarsPurchased(rawValue: 3)
    /// 100 and more.
    package static let under500 = LifetimeDollarsPurchased(rawValue: 4)
    /// 500 and more.
    package static let under1000 = LifetimeDollarsPurchased(rawValue: 5)
    /// 1,000 and more.
    package static let under2000 = LifetimeDollarsPurchased(rawValue: 6)
    package static let from2000 = LifetimeDollarsPurchased(rawValue: 7)

    package static let known = [undeclared, nothing, under50, under100, under500, under1000, under2000, from2000]
}
