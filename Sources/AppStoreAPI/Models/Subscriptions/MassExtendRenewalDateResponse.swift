package import JSON

/// The answer of Extend Subscription Renewal Dates for All Active Subscribers; the work goes on behind it.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldateresponse
package struct MassExtendRenewalDateResponse: WireModel {
    /// The UUID of the request.
    package var requestIdentifier: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<MassExtendRenewalDateResponse>] = [
        .init("requestIdentifier", \.requestIdentifier)
    ]
}
