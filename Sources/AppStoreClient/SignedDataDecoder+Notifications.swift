import Domain
import JSON

extension SignedDataDecoder {
    /// Where notifications hold what is signed by itself.
    private static let signedParts: [String: Set<String>] = [
        "data": ["signedTransactionInfo", "signedRenewalInfo"], "appData": ["signedAppTransactionInfo"],
    ]

    /// Verifies and decodes a notification with all that is signed in it.
    ///
    /// - Throws: `appleAnswerInvalid`, `environmentNotSupported`.
    func notification(_ signed: String, from origin: Origin) throws(ServiceError) -> AppleNotification {
        try notification(try verify(signed, .notification, origin).members, signed: signed, from: origin)
    }

    /// Decodes a verified notification, and verifies and decodes what is signed in it.
    ///
    /// - Parameters:
    ///   - members: the members of the payload.
    ///   - signed: the notification as Apple signed it.
    ///   - origin: whose it is, and where it comes from.
    /// - Returns: the notification.
    /// - Throws: `appleAnswerInvalid`, `environmentNotSupported`.
    func notification(
        _ members: JSONMembers, signed: String, from origin: Origin
    ) throws(ServiceError) -> AppleNotification {
        guard let notificationUUID = members["notificationUUID"]?.string,
            let notificationType = members["notificationType"]?.string
        else {
            throw ServiceError(
                .appleAnswerInvalid, "Apple's notification lacks a field that every notification has.",
                cause: "notificationUUID or notificationType is missing")
        }
        let data = members["data"]?.object
        let transaction = data?["signedTransactionInfo"]?.string
        let renewalInfo = data?["signedRenewalInfo"]?.string
        let appTransaction = try decode(members["appData"]?.object?["signedAppTransactionInfo"]?.string) {
            text throws(ServiceError) in try self.appTransaction(text, from: origin)
        }
        return AppleNotification(
            notificationUUID: notificationUUID, notificationType: notificationType,
            subtype: members["subtype"]?.string, signedDate: members["signedDate"]?.int64,
            environment: origin.environment, payload: Self.withoutSignedParts(members), signed: signed,
            transaction: try decode(transaction) { text throws(ServiceError) in
                try self.transaction(text, from: origin)
            },
            renewalInfo: try decode(renewalInfo) { text throws(ServiceError) in
                try self.data(text, .renewalInfo, from: origin)
            },
            appTransaction: appTransaction?.data, appTransactionID: appTransaction?.appTransactionID,
            consumptionRequestReason: data?["consumptionRequestReason"]?.string)
    }

    private func decode<Decoded>(
        _ signed: String?, _ body: (String) throws(ServiceError) -> Decoded
    ) throws(ServiceError) -> Decoded? {
        guard let signed else { return nil }
        return try body(signed)
    }

    /// The payload with everything but what is signed by itself, byte for byte.
    private static func withoutSignedParts(_ members: JSONMembers) -> [UInt8] {
        var writer = JSONWriter(capacity: members.rawBytes.count)
        writer.object { writer in
            for (name, value) in members {
                guard let left = signedParts[name], let object = value.object else {
                    writer.memberRaw(name, value.rawBytes)
                    continue
                }
                writer.memberObject(name) { writer in
                    for (inner, value) in object where !left.contains(inner) {
                        writer.memberRaw(inner, value.rawBytes)
                    }
                }
            }
        }
        return writer.bytes
    }
}
