import Domain
import Foundation
import JSON

/// Makes what the rules know out of data that Apple signed, after verifying it.
struct SignedDataDecoder: Sendable {
    let verifier: SignedDataVerifier
    let meter: UpstreamMeter

    /// Whose the data must be, and where it must come from.
    struct Origin: Sendable {
        let app: App
        let environment: AppStoreEnvironment
    }

    /// Verifies data that is passed on as it is.
    ///
    /// - Throws: `appleAnswerInvalid`, `environmentNotSupported`.
    func data(_ signed: String, _ kind: SignedDataKind, from origin: Origin) throws(ServiceError) -> VerifiedData {
        VerifiedData(payload: try verify(signed, kind, origin).payload, signed: signed)
    }

    /// Verifies and decodes one signed transaction.
    ///
    /// - Throws: `appleAnswerInvalid`, `environmentNotSupported`.
    func transaction(_ signed: String, from origin: Origin) throws(ServiceError) -> Transaction {
        let verified = try verify(signed, .transaction, origin)
        guard let transaction = transaction(verified, signed: signed, from: origin) else {
            throw ServiceError(
                .appleAnswerInvalid, "Apple's transaction lacks a field that every transaction has.",
                cause: "transactionId, originalTransactionId, purchaseDate or signedDate is missing")
        }
        return transaction
    }

    /// Decodes a verified transaction; nil where it lacks a field that every transaction has.
    func transaction(
        _ verified: SignedDataVerifier.Verified, signed: String, from origin: Origin
    ) -> Transaction? {
        let members = verified.members
        guard let transactionID = members["transactionId"]?.string?.streamSafe,
            let originalTransactionID = members["originalTransactionId"]?.string?.streamSafe,
            let purchaseDate = Self.date(members["purchaseDate"]), let signedDate = Self.date(members["signedDate"])
        else { return nil }
        return Transaction(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            webOrderLineItemID: members["webOrderLineItemId"]?.string?.streamSafe,
            appTransactionID: members["appTransactionId"]?.string?.streamSafe,
            appAccountToken: members["appAccountToken"]?.string?.streamSafe,
            productID: members["productId"]?.string?.streamSafe,
            productType: (members["type"]?.string?.streamSafe).map(ProductType.init(rawValue:)),
            purchaseDate: purchaseDate,
            expiresDate: Self.date(members["expiresDate"]), signedDate: signedDate,
            revocationDate: Self.date(members["revocationDate"]),
            isFamilyShared: members["inAppOwnershipType"]?.string == "FAMILY_SHARED",
            isAdvancedCommerce: members["advancedCommerceInfo"]?.kind == .object, environment: origin.environment,
            details: Self.details(members), payload: verified.payload, signed: signed)
    }

    /// Verifies and decodes signed transactions; one that fails, fails all.
    ///
    /// - Throws: as `transaction(_:from:)`.
    func transactions(_ signed: [String], from origin: Origin) throws(ServiceError) -> [Transaction] {
        var transactions: [Transaction] = []
        transactions.reserveCapacity(signed.count)
        for text in signed { transactions.append(try transaction(text, from: origin)) }
        return transactions
    }

    /// Verifies and decodes an app transaction.
    ///
    /// - Throws: `appleAnswerInvalid`, `environmentNotSupported`.
    func appTransaction(_ signed: String, from origin: Origin) throws(ServiceError) -> AppTransaction {
        let verified = try verify(signed, .appTransaction, origin)
        return AppTransaction(
            data: VerifiedData(payload: verified.payload, signed: signed),
            appTransactionID: verified.members["appTransactionId"]?.string?.streamSafe, environment: origin.environment)
    }

    /// Verifies data and counts the result.
    func verify(
        _ signed: String, _ kind: SignedDataKind, _ origin: Origin
    ) throws(ServiceError) -> SignedDataVerifier.Verified {
        do {
            let verified = try verifier.verify(signed, kind, app: origin.app, environment: origin.environment)
            meter.countVerification("verified")
            return verified
        } catch {
            meter.countVerification(error.reason.rawValue)
            throw error
        }
    }

    private static func details(_ members: JSONMembers) -> TransactionDetails {
        var details = TransactionDetails()
        details.quantity = members["quantity"]?.int64.flatMap { Int(exactly: $0) }
        details.currency = members["currency"]?.string?.streamSafe
        details.price = members["price"]?.int64
        details.storefront = members["storefront"]?.string?.streamSafe
        details.originalPurchaseDate = date(members["originalPurchaseDate"])
        details.offerDiscountType = members["offerDiscountType"]?.string?.streamSafe
        details.isUpgraded = members["isUpgraded"]?.bool ?? false
        details.revocationPercentage = members["revocationPercentage"]?.int64.flatMap { Int32(exactly: $0) }
        return details
    }

    private static func date(_ value: JSONSlice?) -> Date? {
        value?.double.map { Date(timeIntervalSince1970: $0 / 1000) }
    }

    /// Where notifications hold what is signed by itself.
    private static let signedParts: [UntrustedText: Set<UntrustedText>] = [
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
        guard let notificationUUID = members["notificationUUID"]?.string?.streamSafe,
            let notificationType = members["notificationType"]?.string?.streamSafe
        else {
            throw ServiceError(
                .appleAnswerInvalid, "Apple's notification lacks a field that every notification has.",
                cause: "notificationUUID or notificationType is missing")
        }
        let data = members["data"]?.object
        let transaction = data?["signedTransactionInfo"]?.string?.streamSafe
        let renewalInfo = data?["signedRenewalInfo"]?.string?.streamSafe
        let appTransaction = try decode(members["appData"]?.object?["signedAppTransactionInfo"]?.string?.streamSafe) {
            text throws(ServiceError) in try self.appTransaction(text, from: origin)
        }
        return AppleNotification(
            notificationUUID: notificationUUID, notificationType: notificationType,
            subtype: members["subtype"]?.string?.streamSafe, signedDate: members["signedDate"]?.int64,
            environment: origin.environment, payload: Self.withoutSignedParts(members), signed: signed,
            transaction: try decode(transaction) { text throws(ServiceError) in
                try self.transaction(text, from: origin)
            },
            renewalInfo: try decode(renewalInfo) { text throws(ServiceError) in
                try self.data(text, .renewalInfo, from: origin)
            },
            appTransaction: appTransaction?.data, appTransactionID: appTransaction?.appTransactionID,
            consumptionRequestReason: data?["consumptionRequestReason"]?.string?.streamSafe)
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
                writer.name(name)
                writer.object { writer in
                    for (inner, value) in object where !left.contains(inner) {
                        writer.memberRaw(inner, value.rawBytes)
                    }
                }
            }
        }
        return writer.bytes
    }
}
