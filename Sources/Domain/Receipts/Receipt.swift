package import Foundation

/// A receipt that an app sent, and what Apple says of it.
///
/// The same bytes for the same app are the same receipt, however often they come: the newest upload brings it up to date.
package struct Receipt: Sendable, Equatable {
    /// How far its confirmation has got.
    package enum State: String, Sendable, CaseIterable {
        /// Apple has not said anything yet.
        case queued
        /// Apple knows it.
        case confirmed
        /// What Apple says shows that it is not genuine; `fraudReason` tells.
        case fraud
    }

    /// A UUID.
    package let id: String
    /// The app's slug.
    package let app: String
    /// SHA-256 of the receipt's bytes.
    package let digest: [UInt8]
    package let createdAt: Date
    /// When it was last uploaded, or an answer of Apple's changed it.
    package var updatedAt: Date
    package var content: ReceiptContent
    package var state: State
    /// Set in the state `fraud` alone.
    package var fraudReason: ReceiptFraud?
    /// What is worth a look, and never fraud, in ascending order.
    package var flags: [ReceiptFlag]
    /// Where Apple knows it, else what it says itself; nil where neither tells.
    package var environment: AppStoreEnvironment?
    /// Whom the newest upload that named a user named.
    package var user: UserID?
    /// ISO 3166-1 alpha-2, as it was sent.
    package var countryCode: String?
    package var identifierForVendor: UUID?
    /// IPv4 or IPv6.
    package var ipAddress: String?
    /// A JSON object, byte for byte as it was sent.
    package var metadata: [UInt8]?
    /// The bytes of the receipt, where the configuration has them kept.
    package var raw: [UInt8]?
    /// What Apple says of the receipt's purchases, by transaction id; at most `ReceiptRules.maximumApplePurchases`.
    package var apple: [String: ApplePurchase]
    /// The Apple Account's `appTransactionId`, once Apple has named it.
    package var appTransactionID: String?
    /// When Apple last answered about it; nil as long as it has not.
    package var checkedAt: Date?
    /// When Apple first did not know it, while it still does not.
    package var unknownSince: Date?
    /// How often Apple has been asked in vain since it last answered.
    package var attempts: Int
    /// When Apple is asked next; nil when nothing is to be asked.
    package var nextAttemptAt: Date?

    package init(
        id: String, app: String, digest: [UInt8], createdAt: Date, updatedAt: Date, content: ReceiptContent,
        state: State = .queued, fraudReason: ReceiptFraud? = nil, flags: [ReceiptFlag] = [],
        environment: AppStoreEnvironment? = nil, user: UserID? = nil, countryCode: String? = nil,
        identifierForVendor: UUID? = nil, ipAddress: String? = nil, metadata: [UInt8]? = nil, raw: [UInt8]? = nil,
        apple: [String: ApplePurchase] = [:], appTransactionID: String? = nil, checkedAt: Date? = nil,
        unknownSince: Date? = nil, attempts: Int = 0, nextAttemptAt: Date? = nil
    ) {
        self.id = id
        self.app = app
        self.digest = digest
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.content = content
        self.state = state
        self.fraudReason = fraudReason
        self.flags = flags
        self.environment = environment
        self.user = user
        self.countryCode = countryCode
        self.identifierForVendor = identifierForVendor
        self.ipAddress = ipAddress
        self.metadata = metadata
        self.raw = raw
        self.apple = apple
        self.appTransactionID = appTransactionID
        self.checkedAt = checkedAt
        self.unknownSince = unknownSince
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
    }

    /// Whether it is known not to be genuine.
    package var isFraud: Bool { state == .fraud }
}

/// Why a receipt is not genuine, by what Apple says; the raw value is told to callers.
package enum ReceiptFraud: String, Sendable, CaseIterable {
    /// Its transaction is one of another app than it says.
    case otherApp = "TRANSACTION_OF_ANOTHER_APP"
    /// Apple has not known its transactions in any allowed environment for a day.
    case unknown = "UNKNOWN_TO_APPLE"
    /// What it says of its transaction, which nobody has signed, is not what Apple says.
    case contradicted = "CONTRADICTED_BY_APPLE"
}

/// What is worth a look about a receipt, and never fraud; the raw value is told to callers.
package enum ReceiptFlag: String, Sendable, CaseIterable, Comparable {
    /// It was made for another device, or the app was installed anew since.
    case deviceMismatch = "DEVICE_MISMATCH"
    /// A purchase of it belongs to another user by a link, which stands.
    case linkConflict = "LINK_CONFLICT"
    /// Apple has taken a purchase of it back.
    case revoked = "REVOKED_PURCHASE"
    /// More users than the configuration expects have sent a purchase of it.
    case severalUsers = "SEVERAL_USERS"

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// What Apple says of a purchase now; signed by Apple and verified.
package struct ApplePurchase: Sendable, Equatable, Codable {
    package var transactionID: String
    package var originalTransactionID: String
    package var webOrderLineItemID: String?
    package var appTransactionID: String?
    package var productID: String?
    /// Apple's `type`, such as `Consumable`.
    package var productType: String?
    package var quantity: Int?
    /// ISO 4217.
    package var currency: String?
    /// Price in thousandths of the currency.
    package var price: Int64?
    /// The storefront's country, ISO 3166-1 alpha-3.
    package var storefront: String?
    package var purchaseDate: Date
    package var originalPurchaseDate: Date?
    /// When a subscription's period ends.
    package var expiresDate: Date?
    package var revocationDate: Date?
    /// Apple's `offerDiscountType`, such as `FREE_TRIAL`.
    package var offerDiscountType: String?
    /// Whether a better subscription has taken its place.
    package var isUpgraded: Bool
    package var isFamilyShared: Bool
    package var signedDate: Date
    /// How often what Apple says of it has changed since it was first heard, that included.
    package var version: Int
    /// When what Apple says of it was last found changed.
    package var changedAt: Date
    /// When Apple last said it.
    package var syncedAt: Date
}
