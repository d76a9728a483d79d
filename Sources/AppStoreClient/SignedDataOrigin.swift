import Domain
import JSON

/// Which app and environment signed data says it belongs to, and when it was signed: each kind says so in its own place.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload,
/// https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload,
/// https://developer.apple.com/documentation/appstoreserverapi/jwsapptransactiondecodedpayload,
/// https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload,
/// https://developer.apple.com/documentation/retentionmessaging/decodedrealtimerequestbody
struct SignedDataOrigin: Sendable {
    let bundleID: String?
    let appAppleID: Int64?
    /// Apple's name of the environment.
    let environment: String?
    /// UNIX milliseconds.
    let signedDate: Int64?

    init(of kind: SignedDataKind, _ payload: JSONMembers) {
        let subject = kind == .notification ? Self.subject(of: payload) : payload
        bundleID = subject?["bundleId"]?.string
        appAppleID = subject?["appAppleId"]?.int64
        signedDate = payload[kind == .appTransaction ? "receiptCreationDate" : "signedDate"]?.int64
        environment =
            switch kind {
            case .appTransaction: payload["receiptType"]?.string
            case .notification: Self.environment(of: subject, payload)
            case .transaction, .renewalInfo, .realtimeRequest: payload["environment"]?.string
            }
    }

    /// What a notification is about; it has one of these.
    private static func subject(of payload: JSONMembers) -> JSONMembers? {
        for name in ["data", "summary", "externalPurchaseToken", "appData"] {
            if let subject = payload[name]?.object { return subject }
        }
        return nil
    }

    /// A token for purchases outside the App Store tells its environment by the beginning of its id.
    private static func environment(of subject: JSONMembers?, _ payload: JSONMembers) -> String? {
        guard payload["data"]?.object == nil, payload["summary"]?.object == nil,
            let token = payload["externalPurchaseToken"]?.object
        else { return subject?["environment"]?.string }
        guard let id = token["externalPurchaseId"]?.string else { return nil }
        return (id.hasPrefix("SANDBOX") ? AppStoreEnvironment.sandbox : .production).rawValue
    }

    /// Why the data is not this app's in this environment, or nil when it is.
    ///
    /// Renewal information names no bundle id, and a realtime request none either. Apple's numeric id is there in Production
    /// only, and is checked where the configuration names it.
    func fault(_ kind: SignedDataKind, app: App, environment: AppStoreEnvironment) -> String? {
        if kind != .renewalInfo, kind != .realtimeRequest, bundleID != app.bundleID {
            return "bundleId is not the app's"
        }
        if kind != .transaction, kind != .renewalInfo, environment == .production, let expected = app.appAppleID,
            appAppleID != expected
        {
            return "appAppleId is not the app's"
        }
        return self.environment == environment.rawValue ? nil : "environment is not \(environment.rawValue)"
    }
}
