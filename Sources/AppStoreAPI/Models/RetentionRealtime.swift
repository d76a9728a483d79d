// The realtime URL of Retention Messaging: how it is configured, and what the App Store sends there.

package import JSON

/// The body of Configure Realtime URL.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/realtimeurlrequest
package struct RealtimeURLRequest: WireModel {
    /// Where the App Store asks for a message; at most 256 characters.
    package var realtimeURL: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RealtimeURLRequest>] = [
        .init("realtimeURL", \.realtimeURL, isRequired: true)
    ]
}

/// The answer of Get Realtime URL.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/realtimeurlresponse
package struct RealtimeURLResponse: WireModel {
    /// At most 256 characters.
    package var realtimeURL: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RealtimeURLResponse>] = [
        .init("realtimeURL", \.realtimeURL, isRequired: true)
    ]
}

/// What the App Store sends to the realtime URL when a customer is about to cancel.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/realtimerequestbody
package struct RealtimeRequestBody: WireModel {
    /// A compact JWS whose payload is a ``RealtimeRequestPayload``.
    package var signedPayload: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RealtimeRequestBody>] = [
        .init("signedPayload", \.signedPayload)
    ]
}

/// The payload of a signed realtime request (`DecodedRealtimeRequestBody`): who is about to cancel what.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/decodedrealtimerequestbody
package struct RealtimeRequestPayload: WireModel {
    package var originalTransactionId: String?
    package var appAppleId: Int64?
    package var productId: String?
    /// Of the customer's device, such as `en-US`.
    package var userLocale: String?
    /// A UUID for each request.
    package var requestIdentifier: String?
    /// UNIX milliseconds.
    package var signedDate: Int64?
    package var environment: Environment?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RealtimeRequestPayload>] = [
        .init("originalTransactionId", \.originalTransactionId, isRequired: true),
        .init("appAppleId", \.appAppleId, isRequired: true),
        .init("productId", \.productId, isRequired: true),
        .init("userLocale", \.userLocale, isRequired: true),
        .init("requestIdentifier", \.requestIdentifier, isRequired: true),
        .init("signedDate", \.signedDate, isRequired: true),
        .init("environment", \.environment, isRequired: true),
    ]
}

/// The answer to a realtime request: one of the four.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/realtimeresponsebody
package struct RealtimeResponseBody: WireModel {
    package var message: RetentionMessage?
    package var alternateProduct: AlternateProduct?
    package var promotionalOffer: PromotionalOffer?
    package var advancedCommerceInfo: AdvancedCommerceInfo?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RealtimeResponseBody>] = [
        .init("message", \.message),
        .init("alternateProduct", \.alternateProduct),
        .init("promotionalOffer", \.promotionalOffer),
        .init("advancedCommerceInfo", \.advancedCommerceInfo),
    ]
}

/// A realtime answer that shows a message.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/message
package struct RetentionMessage: WireModel {
    /// The UUID of an approved message.
    package var messageIdentifier: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<RetentionMessage>] = [
        .init("messageIdentifier", \.messageIdentifier)
    ]
}

/// A realtime answer that offers another subscription.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/alternateproduct
package struct AlternateProduct: WireModel {
    /// The UUID of the message beside it.
    package var messageIdentifier: String?
    /// The subscription to change to.
    package var productId: String?
    package var billingPlanType: BillingPlanType?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AlternateProduct>] = [
        .init("messageIdentifier", \.messageIdentifier),
        .init("productId", \.productId),
        .init("billingPlanType", \.billingPlanType),
    ]
}

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
    package var additional: [String: JSONValue] = [:]

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

/// A realtime answer that offers a discount or a change through the Advanced Commerce API.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/advancedcommerceinfo
package struct AdvancedCommerceInfo: WireModel {
    /// The UUID of the message beside it.
    package var messageIdentifier: String?
    /// Base64 of a JSON object around a JWS.
    package var advancedCommerceData: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AdvancedCommerceInfo>] = [
        .init("messageIdentifier", \.messageIdentifier),
        .init("advancedCommerceData", \.advancedCommerceData),
    ]
}
