package import JSON

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
    package var additional: [String: JSONValue] = [:]

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
