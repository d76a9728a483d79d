package import JSON

/// A realtime answer that offers a discount.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/promotionaloffer
package struct PromotionalOffer: WireModel {
    /// The UUID of the message beside it.
    package var messageIdentifier: String?
    /// A compact JWS.
    package var promotionalOfferSignatureV2: String?
    /// The older form of a signature.
    package var promotionalOfferSignatureV1: PromotionalOfferSignatureV1?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PromotionalOffer>] = [
        .init("messageIdentifier", \.messageIdentifier),
        .init("promotionalOfferSignatureV2", \.promotionalOfferSignatureV2),
        .init("promotionalOfferSignatureV1", \.promotionalOfferSignatureV1),
    ]
}
