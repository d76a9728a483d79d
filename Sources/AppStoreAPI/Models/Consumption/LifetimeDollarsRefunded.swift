/// What a customer got back for purchases in the app on all platforms, in US dollars.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/lifetimedollarsrefunded
package struct LifetimeDollarsRefunded: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = LifetimeDollarsRefunded(rawValue: 0)
    package static let nothing = LifetimeDollarsRefunded(rawValue: 1)
    package static let under50 = LifetimeDollarsRefunded(rawValue: 2)
    /// 50 and more.
    package static let under100 = LifetimeDollarsRefunded(rawValue: 3)
    /// 100 and more.
    package static let under500 = LifetimeDollarsRefunded(rawValue: 4)
    /// 500 and more.
    package static let under1000 = LifetimeDollarsRefunded(rawValue: 5)
    /// 1,000 and more.
    package static let under2000 = LifetimeDollarsRefunded(rawValue: 6)
    package static let from2000 = LifetimeDollarsRefunded(rawValue: 7)

    package static let known = [undeclared, nothing, under50, under100, under500, under1000, under2000, from2000]
}
