package import Foundation

/// Signs, with an app's In-App Purchase key, what the app hands to StoreKit.
///
/// The key itself is never given out.
package protocol SignatureSource: Sendable {
    /// Signs a request as a compact JWS.
    ///
    /// - Throws: `keyUnavailable` when the app has no active key or signing fails.
    func signature(for request: StoreKitRequest, app: App) async throws(ServiceError) -> StoreKitSignature

    /// Signs a promotional offer in its older form, for the original API for In-App Purchase.
    ///
    /// - Throws: `keyUnavailable` when the app has no active key or signing fails.
    func signature(
        for offer: OriginalPromotionalOffer, app: App
    ) async throws(ServiceError) -> OriginalPromotionalOfferSignature
}

/// What an app may do through StoreKit only with its server's signature; already checked.
///
/// Source: https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests
package enum StoreKitRequest: Sendable, Equatable {
    /// Let a customer redeem a promotional offer. Any transaction of the customer's, or the app transaction id, may be named.
    case promotionalOffer(productID: String, offerIdentifier: String, transactionID: String?)
    /// Decide whether a customer gets the introductory offer of a product.
    case introductoryOffer(productID: String, isAllowed: Bool, transactionID: String)
    /// A purchase or a change through the Advanced Commerce API: Apple's JSON object, byte for byte.
    case advancedCommerce([UInt8])

    /// What kind of request it is, as routes and metrics name it.
    package var kind: String {
        switch self {
        case .promotionalOffer: "promotionalOffer"
        case .introductoryOffer: "introductoryOffer"
        case .advancedCommerce: "advancedCommerce"
        }
    }
}

/// A promotional offer of the original API for In-App Purchase; already checked.
///
/// Source: https://developer.apple.com/documentation/storekit/in-app_purchase/original_api_for_in-app_purchase/subscriptions_and_offers/generating_a_signature_for_promotional_offers
package struct OriginalPromotionalOffer: Sendable, Equatable {
    /// What kind of request it is, as routes and metrics name it.
    package static let kind = "promotionalOfferV1"

    package let productID: String
    package let offerIdentifier: String
    /// Who redeems it, as the app tells StoreKit too: an `appAccountToken` or a name, in lower case; empty for nobody.
    package let applicationUsername: String

    package init(productID: String, offerIdentifier: String, applicationUsername: String) {
        self.productID = productID
        self.offerIdentifier = offerIdentifier
        self.applicationUsername = applicationUsername.lowercased()
    }
}

/// A signed request.
///
/// Whoever has it can use it: its value never enters a log, an error or a description.
package struct StoreKitSignature: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The compact JWS.
    package let value: String
    /// The key that signed it.
    package let keyID: String
    /// A UUID in lower case, which no other signature has.
    package let nonce: String
    /// The signature's `iat`: whole seconds.
    package let issuedAt: Date

    package init(value: String, keyID: String, nonce: String, issuedAt: Date) {
        self.value = value
        self.keyID = keyID
        self.nonce = nonce
        self.issuedAt = issuedAt
    }

    package var description: String { "StoreKitSignature(keyID: \(keyID), nonce: \(nonce))" }
    package var debugDescription: String { description }
}

/// The older form of a signature, with what StoreKit must be told beside it.
///
/// It is as secret as the newer one.
package struct OriginalPromotionalOfferSignature: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// ECDSA over SHA-256, in DER.
    package let value: [UInt8]
    /// The key that signed it.
    package let keyID: String
    /// A UUID in lower case, which no other signature has.
    package let nonce: String
    /// In UNIX milliseconds; Apple takes the signature for 24 hours from then on.
    package let timestamp: Int64

    package init(value: [UInt8], keyID: String, nonce: String, timestamp: Int64) {
        self.value = value
        self.keyID = keyID
        self.nonce = nonce
        self.timestamp = timestamp
    }

    package var description: String { "OriginalPromotionalOfferSignature(keyID: \(keyID), nonce: \(nonce))" }
    package var debugDescription: String { description }
}
