package import JSON

/// A promotional offer with the older form of its signature.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/promotionaloffersignaturev1
package struct PromotionalOfferSignatureV1: WireModel {
    /// Base64.
    package var encodedSignature: String?
    package var productId: String?
    /// A UUID in lower case, used once.
    package var nonce: String?
    /// UNIX milliseconds.
    package var timestamp: Int64?
    package var keyId: String?
    package var offerIdentifier: String?
    /// A UUID in lower case.
    package var appAccountToken: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<PromotionalOfferSignatureV1>] = [
        .init("encodedSignature", \.encodedSignature, isRequired: true),
        .init("productId", \.productId, isRequired: true),
        .init("nonce", \.nonce, isRequired: true),
        .init("timestamp", \.timestamp, isRequired: true),
        .init("keyId", \.keyId, isRequired: true),
        .init("offerIdentifier", \.offerIdentifier, isRequired: true),
        .init("appAccountToken", \.appAccountToken),
    ]
}
