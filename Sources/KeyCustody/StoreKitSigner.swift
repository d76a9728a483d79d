package import Domain
import Foundation
import JOSE
import JSON
package import Metrics
import OpenSSL

/// Signs what apps hand to StoreKit, with the key that is active for the app.
///
/// Nothing is kept: each signature has a nonce of its own, and the app uses it at once.
package struct StoreKitSigner: SignatureSource {
    private let keys: KeyRing
    private let clock: ServiceClock
    private let metrics: any MetricsFactory

    package init(keys: KeyRing, clock: ServiceClock, metrics: any MetricsFactory) {
        self.keys = keys
        self.clock = clock
        self.metrics = metrics
    }

    package func signature(for request: StoreKitRequest, app: App) async throws(ServiceError) -> StoreKitSignature {
        let key = try keys.signingKey(for: app)
        let nonce = Self.makeNonce()
        let issuedAt = Date(timeIntervalSince1970: clock.now().timeIntervalSince1970.rounded(.down))
        let value = try sign(request.kind, with: key) { () throws(OpenSSLError) in
            var claims = JWTClaims(
                issuer: key.issuerID, audience: [request.audience], issuedAt: issuedAt,
                others: request.claims)
            claims.others["bid"] = .string(app.bundleID)
            claims.others["nonce"] = .string(nonce)
            return try JWT.sign(claims, keyID: key.keyID, with: key.privateKey)
        }
        return StoreKitSignature(value: value, keyID: key.keyID, nonce: nonce, issuedAt: issuedAt)
    }

    package func signature(
        for offer: OriginalPromotionalOffer, app: App
    ) async throws(ServiceError) -> OriginalPromotionalOfferSignature {
        let key = try keys.signingKey(for: app)
        let nonce = Self.makeNonce()
        let timestamp = clock.now().milliseconds
        let text = [
            app.bundleID, key.keyID, offer.productID, offer.offerIdentifier, offer.applicationUsername, nonce,
            String(timestamp),
        ].joined(separator: Self.separator)
        let value = try sign(OriginalPromotionalOffer.kind, with: key) { () throws(OpenSSLError) in
            try key.privateKey.derSignature(for: Array(text.utf8))
        }
        return OriginalPromotionalOfferSignature(value: value, keyID: key.keyID, nonce: nonce, timestamp: timestamp)
    }

    /// What stands between the parts of the older form: INVISIBLE SEPARATOR.
    private static let separator = "\u{2063}"

    /// A nonce of one signature; the older form wants it in lower case.
    private static func makeNonce() -> String { UUID().uuidString.lowercased() }

    /// Signs, and counts how it went.
    private func sign<Value>(
        _ kind: String, with key: KeyRing.Key, _ signature: () throws(OpenSSLError) -> Value
    ) throws(ServiceError) -> Value {
        do throws(OpenSSLError) {
            let value = try signature()
            keys.noteUse(key.keyID, at: clock.now())
            count("purser_signatures_made", kind)
            return value
        } catch {
            count("purser_signature_failures", kind)
            throw ServiceError(.keyUnavailable, "The request could not be signed.", cause: "\(error)")
        }
    }

    private func count(_ label: String, _ kind: String) {
        Counter(label: label, dimensions: [("kind", kind)], factory: metrics).increment()
    }
}

extension StoreKitRequest {
    /// `aud`: which of StoreKit's features the signature is for.
    fileprivate var audience: String {
        switch self {
        case .promotionalOffer: "promotional-offer"
        case .introductoryOffer: "introductory-offer-eligibility"
        case .advancedCommerce: "advanced-commerce-api"
        }
    }

    /// What the feature wants to know.
    fileprivate var claims: [UntrustedText: JSONValue] {
        switch self {
        case .promotionalOffer(let product, let offer, let transaction):
            var claims: [UntrustedText: JSONValue] = ["productId": .string(product), "offerIdentifier": .string(offer)]
            claims["transactionId"] = transaction.map(JSONValue.string)
            return claims
        case .introductoryOffer(let product, let isAllowed, let transaction):
            return [
                "productId": .string(product), "allowIntroductoryOffer": .bool(isAllowed),
                "transactionId": .string(transaction),
            ]
        case .advancedCommerce(let body): return ["request": .string(Base64.encode(body))]
        }
    }
}
