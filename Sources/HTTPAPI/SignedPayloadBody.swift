import Domain
import JSON

/// The body around a notification that Apple signed.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2
struct SignedPayloadBody: Sendable {
    /// Compact JWS, unverified.
    let signedPayload: String

    /// `takesUnknown`: whether members are let pass that the body does not have today.
    ///
    /// - Throws: `invalidRequest`.
    init(_ members: JSONMembers, takesUnknown: Bool) throws(ServiceError) {
        var fields = BodyFields(members)
        let signed = fields.text("signedPayload", bytes: 1...Routes.maximumNotificationBytes)
        if !takesUnknown { fields.refuseUnknown() }
        guard fields.havePassed, let signed else { throw fields.error }
        signedPayload = signed
    }
}
