package import Foundation

/// Reads the receipts that apps send: takes them apart and verifies what can be verified offline.
package protocol ReceiptReader: Sendable {
    /// What a receipt says, after its signature was verified as far as its style allows.
    ///
    /// - Parameters:
    ///   - bytes: the receipt, no longer Base64.
    ///   - device: the device's `identifierForVendor`, by which the receipt's hash of the device is checked; nil for no check.
    ///   - requester: whose share of the reading it uses.
    /// - Returns: what it says; `isVerified` tells whether that is proven.
    /// - Throws: why it is nothing to go on.
    func content(
        of bytes: [UInt8], device: UUID?, for requester: Requester
    ) async throws(ReceiptFault) -> ReceiptContent

    /// A transaction id out of a receipt of either style, without verifying anything: good for nothing but to ask Apple about.
    ///
    /// - Parameters:
    ///   - bytes: the receipt, no longer Base64.
    ///   - requester: whose share of the reading it uses.
    /// - Returns: the id; nil when it has no purchases.
    /// - Throws: `undecodable`, `busy`.
    func transactionID(in bytes: [UInt8], for requester: Requester) async throws(ReceiptFault) -> String?
}

/// Why a receipt is nothing to go on.
package enum ReceiptFault: Error, Sendable, Equatable {
    /// It is no receipt, or breaks a limit: says what is wrong, for the caller (422).
    case undecodable(String)
    /// Xcode signed it: it proves nothing (422).
    case xcode
    /// Its signature is not Apple's (402).
    case signature(ReceiptSignatureFault)
    /// As many as can be verified at once are being verified (503).
    case busy
}

/// What is wrong with the signature of a receipt; the raw value is told to callers.
package enum ReceiptSignatureFault: String, Sendable, CaseIterable {
    /// The signature over the signed attributes does not verify, or there is none.
    case signatureInvalid = "SIGNATURE_INVALID"
    /// What was signed is not what it holds: the digest differs.
    case contentAltered = "CONTENT_ALTERED"
    /// The signer's chain does not end at a root of Apple's, or was not valid when the receipt was created.
    case chainNotTrusted = "CHAIN_NOT_TRUSTED"
    /// The signer or its issuer lacks the extension by which Apple marks those that sign receipts.
    case markerMissing = "MARKER_MISSING"
    /// It was signed with SHA-1 after Apple had stopped doing so.
    case algorithmNotAccepted = "ALGORITHM_NOT_ACCEPTED"
}

/// What a receipt says.
package struct ReceiptContent: Sendable, Equatable {
    /// The two forms of receipts; the raw values are those of the receipts API.
    package enum Style: String, Sendable, CaseIterable {
        /// One transaction, in property lists (before iOS 7).
        case transaction
        /// The app receipt: PKCS #7, with any number of purchases.
        case unified
    }

    /// Whether the receipt was made for the device that sent it.
    package enum DeviceCheck: String, Sendable, CaseIterable {
        case matches, mismatch, unchecked
    }

    package var style: Style
    /// Whether Apple's signature proves what it says; false for the style `transaction`, which Apple's answer alone proves.
    package var isVerified: Bool
    package var bundleID: String
    /// As the receipt writes it, such as `ProductionSandbox`; nil where it does not say.
    package var environmentName: String?
    /// When it was made; nil where it does not say.
    package var createdAt: Date?
    /// The app's version.
    package var applicationVersion: String?
    /// The version that was first bought.
    package var originalApplicationVersion: String?
    package var deviceCheck: DeviceCheck
    /// In the order of the receipt.
    package var purchases: [Purchase]

    package init(
        style: Style, isVerified: Bool, bundleID: String, environmentName: String?, createdAt: Date?,
        applicationVersion: String? = nil, originalApplicationVersion: String? = nil,
        deviceCheck: DeviceCheck = .unchecked, purchases: [Purchase]
    ) {
        self.style = style
        self.isVerified = isVerified
        self.bundleID = bundleID
        self.environmentName = environmentName
        self.createdAt = createdAt
        self.applicationVersion = applicationVersion
        self.originalApplicationVersion = originalApplicationVersion
        self.deviceCheck = deviceCheck
        self.purchases = purchases
    }

    /// Where it was issued; nil where it does not say.
    ///
    /// `ProductionSandbox` is what TestFlight and App Review use.
    package var environment: AppStoreEnvironment? {
        switch environmentName?.lowercased() {
        case "production", "productionvpp": .production
        case "sandbox", "productionsandbox", "productionvppsandbox": .sandbox
        default: nil
        }
    }

    /// One purchase, in the receipt's own words.
    ///
    /// Source: "Receipt Fields" of Apple's receipt validation guide.
    package struct Purchase: Sendable, Equatable {
        package var transactionID: String?
        package var originalTransactionID: String?
        package var productID: String?
        package var quantity: Int?
        package var purchaseDate: Date?
        package var originalPurchaseDate: Date?
        /// When the subscription period ends.
        package var expiresDate: Date?
        /// The subscription period.
        package var webOrderLineItemID: String?
        /// When Apple took it back.
        package var cancellationDate: Date?
        package var isInIntroductoryOfferPeriod: Bool?

        package init(
            transactionID: String?, originalTransactionID: String? = nil, productID: String? = nil,
            quantity: Int? = nil, purchaseDate: Date? = nil, originalPurchaseDate: Date? = nil,
            expiresDate: Date? = nil, webOrderLineItemID: String? = nil, cancellationDate: Date? = nil,
            isInIntroductoryOfferPeriod: Bool? = nil
        ) {
            self.transactionID = transactionID
            self.originalTransactionID = originalTransactionID
            self.productID = productID
            self.quantity = quantity
            self.purchaseDate = purchaseDate
            self.originalPurchaseDate = originalPurchaseDate
            self.expiresDate = expiresDate
            self.webOrderLineItemID = webOrderLineItemID
            self.cancellationDate = cancellationDate
            self.isInIntroductoryOfferPeriod = isInIntroductoryOfferPeriod
        }

        /// The transaction that it is a renewal or restoration of: itself where the receipt names no other.
        package var original: String? { originalTransactionID ?? transactionID }
    }
}
