/// The kind of product that was bought, in a transaction's `type`.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/type
package struct ProductType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let autoRenewableSubscription = ProductType(rawValue: "Auto-Renewable Subscription")
    package static let nonConsumable = ProductType(rawValue: "Non-Consumable")
    package static let consumable = ProductType(rawValue: "Consumable")
    package static let nonRenewingSubscription = ProductType(rawValue: "Non-Renewing Subscription")

    package static let known = [autoRenewableSubscription, nonConsumable, consumable, nonRenewingSubscription]
}
