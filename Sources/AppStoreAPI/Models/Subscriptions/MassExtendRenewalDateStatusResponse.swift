package import JSON

/// The answer of Get Status of Subscription Renewal Date Extensions.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldatestatusresponse
package struct MassExtendRenewalDateStatusResponse: WireModel {
    /// The UUID of the request.
    package var requestIdentifier: String?
    /// Whether every subscriber has been dealt with; the fields below come with true.
    package var complete: Bool?
    /// UNIX milliseconds.
    package var completeDate: Int64?
    /// Subscriptions that were extended.
    package var succeededCount: Int64?
    /// Subscriptions that could not be extended; each has a notification of its own.
    package var failedCount: Int64?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<MassExtendRenewalDateStatusResponse>] = [
        .init("requestIdentifier", \.requestIdentifier),
        .init("complete", \.complete),
        .init("completeDate", \.completeDate),
        .init("succeededCount", \.succeededCount),
        .init("failedCount", \.failedCount),
    ]
}
