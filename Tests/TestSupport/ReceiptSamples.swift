package import Domain
package import Foundation

extension ReceiptContent {
    /// A receipt of the app `coins` with what a test cares about.
    package static func sample(
        style: Style = .unified, isVerified: Bool? = nil, bundleID: String = "com.example.coins",
        environment: String? = "Production", device: DeviceCheck = .unchecked, _ purchases: Purchase...
    ) -> ReceiptContent {
        sample(
            style: style, isVerified: isVerified, bundleID: bundleID, environment: environment, device: device,
            purchases)
    }

    /// A receipt of the app `coins` with these purchases; one of transaction 1 where there are none.
    package static func sample(
        style: Style = .unified, isVerified: Bool? = nil, bundleID: String = "com.example.coins",
        environment: String? = "Production", device: DeviceCheck = .unchecked, _ purchases: [Purchase]
    ) -> ReceiptContent {
        ReceiptContent(
            style: style, isVerified: isVerified ?? (style == .unified), bundleID: bundleID,
            environmentName: environment, createdAt: Date(timeIntervalSince1970: 2000), applicationVersion: "7",
            originalApplicationVersion: "1", deviceCheck: device,
            purchases: purchases.isEmpty ? [.sample("1")] : purchases)
    }

    /// A receipt of a fresh installation: nothing was bought.
    package static var empty: ReceiptContent {
        var content = sample()
        content.purchases = []
        return content
    }
}

extension ReceiptContent.Purchase {
    /// A purchase with what a test cares about.
    package static func sample(
        _ id: String, original: String? = nil, product: String = "gems", purchased: TimeInterval = 1000,
        expires: TimeInterval? = nil, cancelled: TimeInterval? = nil
    ) -> ReceiptContent.Purchase {
        ReceiptContent.Purchase(
            transactionID: id, originalTransactionID: original, productID: product, quantity: 1,
            purchaseDate: Date(timeIntervalSince1970: purchased),
            originalPurchaseDate: Date(timeIntervalSince1970: purchased),
            expiresDate: expires.map(Date.init(timeIntervalSince1970:)),
            cancellationDate: cancelled.map(Date.init(timeIntervalSince1970:)), isInIntroductoryOfferPeriod: false)
    }
}
