package import JSON

/// The answer of Get App Transaction Info.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/apptransactioninforesponse
package struct AppTransactionInfoResponse: WireModel {
    /// A compact JWS whose payload is an ``AppTransactionPayload``.
    package var signedAppTransactionInfo: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<AppTransactionInfoResponse>] = [
        .init("signedAppTransactionInfo", \.signedAppTransactionInfo)
    ]
}
