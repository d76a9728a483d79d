// The realtime URL of Retention Messaging: how it is configured, and what the App Store sends there.

package import JSON

/// The body of Configure Realtime URL.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging/realtimeurlrequest
package struct RealtimeURLRequest: WireModel {
    /// Where the App Store asks for a message; at most 256 characters.
    package var realtimeURL: String?
    package var additional: [UntrustedText: JSONValue] = [:]

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
    package var additional: [UntrustedText: JSONValue] = [:]

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
    package var additional: [UntrustedText: JSONValue] = [:]

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
    package var additional: [UntrustedText: JSONValue] = [:]

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
