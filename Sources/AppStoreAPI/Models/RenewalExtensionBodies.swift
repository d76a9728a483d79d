// The bodies of the calls that extend renewal dates: of one subscription, and of all active subscribers.

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
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ExtendRenewalDateRequest>] = [
        .init("extendByDays", \.extendByDays),
        .init("extendReasonCode", \.extendReasonCode),
        .init("requestIdentifier", \.requestIdentifier),
    ]
}

/// The answer of Extend a Subscription Renewal Date.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldateresponse
package struct ExtendRenewalDateResponse: WireModel {
    package var originalTransactionId: String?
    /// The purchase event that was extended.
    package var webOrderLineItemId: String?
    package var success: Bool?
    /// The new expiration date in UNIX milliseconds.
    package var effectiveDate: Int64?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ExtendRenewalDateResponse>] = [
        .init("originalTransactionId", \.originalTransactionId),
        .init("webOrderLineItemId", \.webOrderLineItemId),
        .init("success", \.success),
        .init("effectiveDate", \.effectiveDate),
    ]
}

/// Why a renewal date is extended.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/extendreasoncode
package struct ExtendReasonCode: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = ExtendReasonCode(rawValue: 0)
    package static let customerSatisfaction = ExtendReasonCode(rawValue: 1)
    package static let other = ExtendReasonCode(rawValue: 2)
    package static let serviceIssueOrOutage = ExtendReasonCode(rawValue: 3)

    package static let known = [undeclared, customerSatisfaction, other, serviceIssueOrOutage]
}

/// The body of Extend Subscription Renewal Dates for All Active Subscribers.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldaterequest
package struct MassExtendRenewalDateRequest: WireModel {
    /// 1 to 90.
    package var extendByDays: Int32?
    package var extendReasonCode: ExtendReasonCode?
    /// A UUID; the same one again when the outcome of a call is unknown.
    package var requestIdentifier: String?
    /// ISO 3166-1 alpha-3; nil means every storefront, and an empty list is refused.
    package var storefrontCountryCodes: [String]?
    /// The subscription to extend.
    package var productId: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<MassExtendRenewalDateRequest>] = [
        .init("extendByDays", \.extendByDays),
        .init("extendReasonCode", \.extendReasonCode),
        .init("requestIdentifier", \.requestIdentifier),
        .init("storefrontCountryCodes", \.storefrontCountryCodes),
        .init("productId", \.productId),
    ]
}

/// The answer of Extend Subscription Renewal Dates for All Active Subscribers; the work goes on behind it.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldateresponse
package struct MassExtendRenewalDateResponse: WireModel {
    /// The UUID of the request.
    package var requestIdentifier: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<MassExtendRenewalDateResponse>] = [
        .init("requestIdentifier", \.requestIdentifier)
    ]
}

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
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<MassExtendRenewalDateStatusResponse>] = [
        .init("requestIdentifier", \.requestIdentifier),
        .init("complete", \.complete),
        .init("completeDate", \.completeDate),
        .init("succeededCount", \.succeededCount),
        .init("failedCount", \.failedCount),
    ]
}
