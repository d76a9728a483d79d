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
