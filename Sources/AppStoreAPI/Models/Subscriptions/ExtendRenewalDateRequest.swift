package import JSON

/// The body of Extend a Subscription Renewal Date.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldaterequest
package struct ExtendRenewalDateRequest: WireModel {
    /// 1 to 90.
    package var extendByDays: Int32?
    package var extendReasonCode: ExtendReasonCode?
    /// At most 128 characters; the same one again when the outcome of a call is unknown.
    package var requestIdentifier: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ExtendRenewalDateRequest>] = [
        .init("extendByDays", \.extendByDays),
        .init("extendReasonCode", \.extendReasonCode),
        .init("requestIdentifier", \.requestIdentifier),
    ]
}
