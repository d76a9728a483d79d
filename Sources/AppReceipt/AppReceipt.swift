package import Foundation

/// What an app receipt says: the contents of its PKCS #7 container, once that is verified.
///
/// Source: "Receipt Fields" in Apple's receipt validation guide; the numbers are those of its attribute types.
package struct AppReceipt: Sendable, Equatable {
    /// The app's bundle id (2).
    package var bundleID: String
    /// As stored (2), which the device hash covers.
    package var bundleIDBytes: [UInt8]
    /// Where it was issued (0), such as `Production`; nil in receipts that do not say.
    package var environment: ReceiptEnvironment?
    /// The app's version (3).
    package var applicationVersion: String?
    /// The version first bought (19).
    package var originalApplicationVersion: String?
    /// When it was made (12): the moment at which its signer must have been valid.
    package var creationDate: Date
    /// When a volume purchase ends (21).
    package var expirationDate: Date?
    /// Random bytes that the device hash covers (4).
    package var opaqueValue: [UInt8]
    /// SHA-1 of device identifier, opaque value and bundle id (5).
    package var deviceHash: [UInt8]
    /// The purchases in it (17), in their order.
    package var purchases: [ReceiptPurchase]
    /// Attributes of types that no public document names, in their order.
    package var otherAttributes: [ReceiptAttribute]
}

/// One purchase of a receipt.
package struct ReceiptPurchase: Sendable, Equatable {
    /// How many were bought (1701).
    package var quantity: Int?
    /// The product (1702).
    package var productID: String?
    /// The transaction (1703).
    package var transactionID: String?
    /// The purchase that the transaction renews or restores (1705).
    package var originalTransactionID: String?
    /// When it was bought (1704).
    package var purchaseDate: Date?
    /// When it was first bought (1706).
    package var originalPurchaseDate: Date?
    /// When the subscription period ends (1708).
    package var expirationDate: Date?
    /// The subscription period (1711).
    package var webOrderLineItemID: Int64?
    /// When Apple took it back (1712).
    package var cancellationDate: Date?
    /// Whether an introductory offer was in force (1719).
    package var isInIntroductoryOfferPeriod: Bool?
    /// Attributes of types that no public document names, in their order.
    package var otherAttributes: [ReceiptAttribute]
}

/// An attribute as it stands in a receipt.
package struct ReceiptAttribute: Sendable, Equatable {
    /// Its number.
    package var type: Int64
    /// Its version.
    package var version: Int64
    /// Its value, not decoded.
    package var value: [UInt8]

    /// An attribute as read.
    package init(type: Int64, version: Int64, value: [UInt8]) {
        self.type = type
        self.version = version
        self.value = value
    }
}

/// Where a receipt was issued.
package enum ReceiptEnvironment: String, Sendable, Equatable {
    case production = "Production"
    case sandbox = "Sandbox"
    /// The sandbox too: what TestFlight and App Review buy in a production build.
    case productionSandbox = "ProductionSandbox"
    /// Signed by a developer's machine: proves nothing.
    case xcode = "Xcode"

    /// Whether purchases of it cost nothing.
    package var isSandbox: Bool { self == .sandbox || self == .productionSandbox }
}
