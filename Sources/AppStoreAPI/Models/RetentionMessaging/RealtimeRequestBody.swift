package import JSON

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
