package import JSON

/// The payload of a signed app transaction (`JWSAppTransactionDecodedPayload`): how the customer came to have the app.
///
/// Dates are UNIX milliseconds. Any field can be missing.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jwsapptransactiondecodedpayload
package struct AppTransactionPayload: WireModel {
    /// The server environment.
    package var receiptType: Environment?
    /// Missing in data signed by Xcode.
    package var appAppleId: Int64?
    package var bundleId: String?
    package var applicationVersion: String?
    /// Missing in data signed by Xcode.
    package var versionExternalIdentifier: Int64?
    /// When it was signed.
    package var receiptCreationDate: Int64?
    /// Before 1970 in data signed by Xcode.
    package var originalPurchaseDate: Int64?
    /// The first version that the customer got: `CFBundleShortVersionString` on macOS, `CFBundleVersion` elsewhere;
    /// always 1.0 in the sandbox.
    package var originalApplicationVersion: String?
    /// Base64 of the hash that ties it to a device.
    package var deviceVerification: String?
    /// The UUID that went into `deviceVerification`.
    package var deviceVerificationNonce: String?
    package var preorderDate: Int64?
    /// The app's download: fixed for an Apple Account, or member of a family, and an app.
    package var appTransactionId: String?
    /// Where the app was got first.
    package var originalPlatform: PurchasePlatform?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AppTransactionPayload>] = [
        .init("receiptType", \.receiptType),
        .init("appAppleId", \.appAppleId),
        .init("bundleId", \.bundleId),
        .init("applicationVersion", \.applicationVersion),
        .init("versionExternalIdentifier", \.versionExternalIdentifier),
        .init("receiptCreationDate", \.receiptCreationDate),
        .init("originalPurchaseDate", \.originalPurchaseDate),
        .init("originalApplicationVersion", \.originalApplicationVersion),
        .init("deviceVerification", \.deviceVerification),
        .init("deviceVerificationNonce", \.deviceVerificationNonce),
        .init("preorderDate", \.preorderDate),
        .init("appTransactionId", \.appTransactionId),
        .init("originalPlatform", \.originalPlatform),
    ]
}

/// The platform of a purchase.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/originalplatform
package struct PurchasePlatform: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let iOS = PurchasePlatform(rawValue: "iOS")
    package static let macOS = PurchasePlatform(rawValue: "macOS")
    package static let tvOS = PurchasePlatform(rawValue: "tvOS")
    package static let visionOS = PurchasePlatform(rawValue: "visionOS")

    package static let known = [iOS, macOS, tvOS, visionOS]
}

/// The answer of Get App Transaction Info.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/apptransactioninforesponse
package struct AppTransactionInfoResponse: WireModel {
    /// A compact JWS whose payload is an ``AppTransactionPayload``.
    package var signedAppTransactionInfo: String?
    package var additional: [UntrustedText: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AppTransactionInfoResponse>] = [
        .init("signedAppTransactionInfo", \.signedAppTransactionInfo)
    ]
}
