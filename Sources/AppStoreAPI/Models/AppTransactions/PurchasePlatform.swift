/// The platform of a purchase.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/originalplatform
package struct PurchasePlatform: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let iOS = PurchasePlatform(rawValue: "iOS")
    package static let macOS = PurchasePlatform(rawValue: "macOS")
    package static let tvOS = PurchasePlatform(rawValue: "tvOS")
    package static let visionOS = PurchasePlatform(rawValue: "visionOS")

    package static let known = [iOS, macOS, tvOS, visionOS]
}
