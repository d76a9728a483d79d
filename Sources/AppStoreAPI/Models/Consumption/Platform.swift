/// On which platform a purchase was used.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/platform
package struct Platform: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = Platform(rawValue: 0)
    package static let apple = Platform(rawValue: 1)
    package static let nonApple = Platform(rawValue: 2)

    package static let known = [undeclared, apple, nonApple]
}
