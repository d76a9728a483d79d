package import JSON

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
