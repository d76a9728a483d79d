package import JSON

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
