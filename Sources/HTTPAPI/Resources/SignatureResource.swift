import Domain
import Foundation
import JSON

/// What is signed for callers: requests that an app may make of StoreKit only with its server's word, and tokens for Apple.
struct SignatureRoutes: Sendable {
    let service: SigningService

    /// `POST …/tokens`.
    func token(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.fields().finish()
        let token = try await service.token(for: app, by: input.actor)
        return Answer.object(capacity: 256 + token.value.utf8.count) { writer in
            writer.member("token", token.value)
            writer.member("expiresAt", Timestamp.text(token.expiresAt))
            writer.member("keyId", token.keyID)
        }
    }

    /// `POST …/signatures/promotionalOffer`.
    func promotionalOffer(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try await answer(app, input, StoreKitRequest.promotionalOffer)
    }

    /// `POST …/signatures/introductoryOffer`.
    func introductoryOffer(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try await answer(app, input, StoreKitRequest.introductoryOffer)
    }

    /// `POST …/signatures/advancedCommerce`.
    func advancedCommerce(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try await answer(app, input) { StoreKitRequest.advancedCommerce(&$0, body: input.body ?? []) }
    }

    /// `POST …/signatures/promotionalOfferV1`.
    func originalPromotionalOffer(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let isToken = fields.holds("appAccountToken")
        let offer = OriginalPromotionalOffer(&fields)
        guard fields.isValid, let offer else { throw fields.error }
        let signature = try await service.signature(for: offer, app: app, by: input.actor)
        return Answer.object { writer in
            writer.member("encodedSignature", Data(signature.value).base64EncodedString())
            writer.member("productId", offer.productID)
            writer.member("nonce", signature.nonce)
            writer.member("timestamp", signature.timestamp)
            writer.member("keyId", signature.keyID)
            writer.member("offerIdentifier", offer.offerIdentifier)
            guard !offer.applicationUsername.isEmpty else { return }
            writer.member(isToken ? "appAccountToken" : "applicationUsername", offer.applicationUsername)
        }
    }

    private func answer(
        _ app: App, _ input: RequestInput, _ read: (inout FieldReader) -> StoreKitRequest?
    ) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let request = read(&fields)
        guard fields.isValid, let request else { throw fields.error }
        let signature = try await service.signature(for: request, app: app, by: input.actor)
        return Answer.object(capacity: 256 + signature.value.utf8.count) { writer in
            writer.member("signature", signature.value)
            writer.member("keyId", signature.keyID)
            writer.member("nonce", signature.nonce)
            writer.member("issuedAt", Timestamp.text(signature.issuedAt))
        }
    }
}
