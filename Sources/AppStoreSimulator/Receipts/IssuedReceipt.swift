package import Foundation
package import OpenSSL

/// What an app receipt is to say.
///
/// Source: "Receipt Fields" in Apple's receipt validation guide; the numbers are those of its attribute types.
package struct IssuedReceipt: Sendable, Equatable {
    /// Where it is issued (0): `Production`, `ProductionSandbox`, `Sandbox` or `Xcode`; nil leaves it out.
    package var environment: String? = "Sandbox"
    /// The app's number (1), which no guide names.
    package var appAppleID: Int64?
    /// The app (2).
    package var bundleID: String
    /// The app's version (3).
    package var applicationVersion = "1.0"
    /// When it is made (12).
    package var creationDate: Date
    /// The version first bought (19).
    package var originalApplicationVersion: String? = "1.0"
    /// When a volume purchase ends (21).
    package var expirationDate: Date?
    /// What the device hash (5) covers beside the device identifier and the bundle id (4).
    package var opaqueValue: [UInt8] = Array(repeating: 0xA5, count: 16)
    /// The device's identifier, 16 bytes of `identifierForVendor`, for the device hash (5); nothing proves it afterwards.
    package var deviceIdentifier: [UInt8] = Array(repeating: 0, count: 16)
    /// In their order (17).
    package var purchases: [IssuedPurchase] = []
    /// Attributes of types that no guide names, with their values in DER; Apple's receipts are full of them.
    package var otherAttributes: [IssuedAttribute] = IssuedAttribute.unnamed

    /// A receipt without purchases.
    package init(bundleID: String, creationDate: Date) {
        self.bundleID = bundleID
        self.creationDate = creationDate
    }

    /// SHA-1 of device identifier, opaque value and bundle id (5).
    ///
    /// - Throws: `OpenSSLError` only when libcrypto itself fails.
    package func deviceHash() throws(OpenSSLError) -> [UInt8] {
        try DigestAlgorithm.sha1.digest(deviceIdentifier + opaqueValue + bundleIDAttribute.value)
    }

    /// The hash covers its bytes as they are encoded.
    private var bundleIDAttribute: IssuedAttribute { .utf8(2, bundleID) }

    /// The SET of attributes, which is signed.
    ///
    /// - Throws: `OpenSSLError` only when libcrypto itself fails.
    package func encoded() throws(OpenSSLError) -> [UInt8] {
        var attributes: [IssuedAttribute] = []
        if let environment { attributes.append(.utf8(0, environment)) }
        if let appAppleID { attributes.append(.integer(1, appAppleID)) }
        attributes += [
            bundleIDAttribute, .utf8(3, applicationVersion), IssuedAttribute(type: 4, value: opaqueValue),
            IssuedAttribute(type: 5, value: try deviceHash()), .date(8, creationDate), .date(12, creationDate),
        ]
        attributes += otherAttributes
        for purchase in purchases { attributes.append(IssuedAttribute(type: 17, value: purchase.encoded)) }
        attributes.append(.date(18, purchases.compactMap(\.originalPurchaseDate).min() ?? creationDate))
        if let originalApplicationVersion { attributes.append(.utf8(19, originalApplicationVersion)) }
        if let expirationDate { attributes.append(.date(21, expirationDate)) }
        return IssuedAttribute.set(attributes)
    }
}

/// What one purchase of a receipt is to say; nil leaves an attribute out.
package struct IssuedPurchase: Sendable, Equatable {
    /// How many were bought (1701).
    package var quantity: Int64? = 1
    /// The product (1702).
    package var productID: String?
    /// The transaction (1703).
    package var transactionID: String?
    /// When it was bought (1704).
    package var purchaseDate: Date?
    /// The purchase that it renews or restores (1705).
    package var originalTransactionID: String?
    /// When that was bought (1706).
    package var originalPurchaseDate: Date?
    /// When a subscription's period ends (1708), which is there and empty for all other purchases.
    package var expirationDate: Date?
    /// The subscription period (1711).
    package var webOrderLineItemID: Int64?
    /// (1712), which is there and empty for what was not taken back.
    package var cancellationDate: Date?
    /// Whether an introductory offer was in force (1719).
    package var isInIntroductoryOfferPeriod: Bool?
    /// Attributes of other types, with their values in DER.
    package var otherAttributes: [IssuedAttribute] = []

    /// A purchase; what it renews or restores is itself.
    package init(productID: String?, transactionID: String?, purchaseDate: Date?) {
        self.productID = productID
        self.transactionID = transactionID
        self.purchaseDate = purchaseDate
        originalTransactionID = transactionID
        originalPurchaseDate = purchaseDate
    }

    /// The SET of attributes.
    var encoded: [UInt8] {
        var attributes: [IssuedAttribute] = []
        if let quantity { attributes.append(.integer(1701, quantity)) }
        if let productID { attributes.append(.utf8(1702, productID)) }
        if let transactionID { attributes.append(.utf8(1703, transactionID)) }
        if let purchaseDate { attributes.append(.date(1704, purchaseDate)) }
        if let originalTransactionID { attributes.append(.utf8(1705, originalTransactionID)) }
        if let originalPurchaseDate { attributes.append(.date(1706, originalPurchaseDate)) }
        attributes.append(.date(1708, expirationDate))
        if let webOrderLineItemID { attributes.append(.integer(1711, webOrderLineItemID)) }
        attributes.append(.date(1712, cancellationDate))
        if let isInIntroductoryOfferPeriod { attributes.append(.integer(1719, isInIntroductoryOfferPeriod ? 1 : 0)) }
        return IssuedAttribute.set(attributes + otherAttributes)
    }
}
