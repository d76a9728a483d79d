package import JSON

/// The body of a notification that the App Store sends, version 2.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2
package struct ResponseBodyV2: WireModel {
    /// A compact JWS whose payload is a ``NotificationPayload``.
    package var signedPayload: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ResponseBodyV2>] = [
        .init("signedPayload", \.signedPayload)
    ]
}

/// The payload of a signed notification (`ResponseBodyV2DecodedPayload`).
///
/// It has one of `data`, `summary`, `externalPurchaseToken` and `appData`.
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload
package struct NotificationPayload: WireModel {
    package var notificationType: NotificationTypeV2?
    package var subtype: Subtype?
    /// The same for every attempt to deliver it.
    package var notificationUUID: String?
    package var data: NotificationData?
    /// `2.0`.
    package var version: String?
    /// UNIX milliseconds.
    package var signedDate: Int64?
    /// With `RENEWAL_EXTENSION` and `SUMMARY`.
    package var summary: Summary?
    /// With `EXTERNAL_PURCHASE_TOKEN`.
    package var externalPurchaseToken: ExternalPurchaseToken?
    /// With `RESCIND_CONSENT`.
    package var appData: AppData?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<NotificationPayload>] = [
        .init("notificationType", \.notificationType),
        .init("subtype", \.subtype),
        .init("notificationUUID", \.notificationUUID),
        .init("data", \.data),
        .init("version", \.version),
        .init("signedDate", \.signedDate),
        .init("summary", \.summary),
        .init("externalPurchaseToken", \.externalPurchaseToken),
        .init("appData", \.appData),
    ]
}

/// The subject of most notifications: an app, a transaction and a subscription.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/data
package struct NotificationData: WireModel {
    package var environment: Environment?
    package var appAppleId: Int64?
    package var bundleId: String?
    /// The build of the app.
    package var bundleVersion: String?
    /// A compact JWS whose payload is a ``TransactionPayload``.
    package var signedTransactionInfo: String?
    /// A compact JWS whose payload is a ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    /// Of the subscription, when the notification was signed.
    package var status: SubscriptionStatus?
    /// With `CONSUMPTION_REQUEST`: what the customer gave as the reason.
    package var consumptionRequestReason: ConsumptionRequestReason?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<NotificationData>] = [
        .init("environment", \.environment),
        .init("appAppleId", \.appAppleId),
        .init("bundleId", \.bundleId),
        .init("bundleVersion", \.bundleVersion),
        .init("signedTransactionInfo", \.signedTransactionInfo),
        .init("signedRenewalInfo", \.signedRenewalInfo),
        .init("status", \.status),
        .init("consumptionRequestReason", \.consumptionRequestReason),
    ]
}

/// The outcome of a mass extension, in the notification that it has finished.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/summary
package struct Summary: WireModel {
    package var environment: Environment?
    package var appAppleId: Int64?
    package var bundleId: String?
    package var productId: String?
    /// The UUID of the request.
    package var requestIdentifier: String?
    /// ISO 3166-1 alpha-3; missing means every storefront.
    package var storefrontCountryCodes: [String]?
    /// Subscriptions that were extended.
    package var succeededCount: Int64?
    /// Subscriptions that could not be extended.
    package var failedCount: Int64?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<Summary>] = [
        .init("environment", \.environment),
        .init("appAppleId", \.appAppleId),
        .init("bundleId", \.bundleId),
        .init("productId", \.productId),
        .init("requestIdentifier", \.requestIdentifier),
        .init("storefrontCountryCodes", \.storefrontCountryCodes),
        .init("succeededCount", \.succeededCount),
        .init("failedCount", \.failedCount),
    ]
}

/// A token for purchases outside the App Store.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/externalpurchasetoken
package struct ExternalPurchaseToken: WireModel {
    /// Begins with `SANDBOX` in the sandbox.
    package var externalPurchaseId: String?
    /// UNIX milliseconds.
    package var tokenCreationDate: Int64?
    package var appAppleId: Int64?
    package var bundleId: String?
    package var tokenType: String?
    /// UNIX milliseconds.
    package var tokenExpirationDate: Int64?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<ExternalPurchaseToken>] = [
        .init("externalPurchaseId", \.externalPurchaseId),
        .init("tokenCreationDate", \.tokenCreationDate),
        .init("appAppleId", \.appAppleId),
        .init("bundleId", \.bundleId),
        .init("tokenType", \.tokenType),
        .init("tokenExpirationDate", \.tokenExpirationDate),
    ]
}

/// The subject of notifications about an app as a whole.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/appdata
package struct AppData: WireModel {
    package var appAppleId: Int64?
    package var bundleId: String?
    package var environment: Environment?
    /// A compact JWS whose payload is an ``AppTransactionPayload``.
    package var signedAppTransactionInfo: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AppData>] = [
        .init("appAppleId", \.appAppleId),
        .init("bundleId", \.bundleId),
        .init("environment", \.environment),
        .init("signedAppTransactionInfo", \.signedAppTransactionInfo),
    ]
}
