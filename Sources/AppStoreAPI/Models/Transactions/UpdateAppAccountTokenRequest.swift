package import JSON

/// The body of Set App Account Token.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/updateappaccounttokenrequest
package struct UpdateAppAccountTokenRequest: WireModel {
    /// A UUID, which replaces the one there was.
    package var appAccountToken: String?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<UpdateAppAccountTokenRequest>] = [
        .init("appAccountToken", \.appAccountToken, isRequired: true)
    ]
}
