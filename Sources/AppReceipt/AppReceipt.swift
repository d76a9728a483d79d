package import Foundation
package import OpenSSL

/// What an app receipt says: the contents of its PKCS #7 container, once that is verified.
///
/// Source: "Receipt Fields" in Apple's receipt validation guide; the numbers are those of its attribute types.
package struct AppReceipt: Sendable, Equatable {
    /// The app's bundle id (2).
    package var bundleID: String
    /// The value of that attribute as it is encoded, which the device hash covers.
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

extension AppReceipt {
    /// Whether the receipt was made for a device.
    ///
    /// No proof either way: the identifier changes when the last of a vendor's apps is removed from the device, and receipts
    /// are restored onto other devices.
    ///
    /// - Parameter deviceIdentifier: The 16 bytes of `identifierForVendor`.
    /// - Returns: Whether the device hash (5) is SHA-1 of identifier, opaque value (4) and bundle id (2) as encoded.
    /// - Throws: `OpenSSLError` only when libcrypto itself fails.
    /// Source: "Validate the receipt" in Apple's receipt validation guide
    package func matches(deviceIdentifier: [UInt8]) throws(OpenSSLError) -> Bool {
        try DigestAlgorithm.sha1.digest(deviceIdentifier + opaqueValue + bundleIDBytes) == deviceHash
    }
}

/// One purchase of a receipt; what a receipt does not say of it is nil.
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
    /// The subscription period (1711); nil for 0 too, which stands for none.
    package var webOrderLineItemID: Int64?
    /// When Apple took it back (1712).
    package var cancellationDate: Date?
    /// Whether an introductory offer was in force (1719).
    package var isInIntroductoryOfferPeriod: Bool?
    /// Attributes of types that no public document names, in their order.
    package var otherAttributes: [ReceiptAttribute] = []
}

/// An attribute as it stands in a receipt.
package struct ReceiptAttribute: Sendable, Equatable {
    /// Its number.
    package var type: Int64
    /// Its version.
    package var version: Int64
    /// Its value, not decoded: a part of the receipt's content.
    package var value: ArraySlice<UInt8>

    /// An attribute as read.
    package init(type: Int64, version: Int64, value: ArraySlice<UInt8>) {
        self.type = type
        self.version = version
        self.value = value
    }
}

/// Where a receipt was issued.
///
/// Source: https://developer.apple.com/documentation/appstorereceipts/responsebody/receipt (`receipt_type`)
package enum ReceiptEnvironment: Sendable, Hashable {
    case production
    /// Bought in volume.
    case productionVPP
    case sandbox
    /// The sandbox too: what TestFlight and App Review buy in a production build.
    case productionSandbox
    case productionVPPSandbox
    /// Signed by a developer's machine: proves nothing.
    case xcode
    /// A name that Apple's pages do not list.
    case other(String)

    private static let named: [(name: String, environment: ReceiptEnvironment)] = [
        ("Production", .production), ("ProductionVPP", .productionVPP), ("Sandbox", .sandbox),
        ("ProductionSandbox", .productionSandbox), ("ProductionVPPSandbox", .productionVPPSandbox), ("Xcode", .xcode),
    ]

    /// The environment of a name in a receipt.
    package init(name: String) {
        self = Self.named.first { $0.name == name }?.environment ?? .other(name)
    }

    /// Apple's name.
    package var name: String {
        if case .other(let name) = self { return name }
        return Self.named.first { $0.environment == self }?.name ?? ""
    }

    /// Whether its purchases are the App Store's: real money.
    package var isProduction: Bool { self == .production || self == .productionVPP }

    /// Whether its purchases are the sandbox's, which cost nothing.
    package var isSandbox: Bool {
        self == .sandbox || self == .productionSandbox || self == .productionVPPSandbox
    }
}
