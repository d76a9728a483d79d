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
        let members = verified.members
        guard let transactionID = members["transactionId"]?.string,
            let originalTransactionID = members["originalTransactionId"]?.string,
            let purchaseDate = Self.date(members["purchaseDate"]), let signedDate = Self.date(members["signedDate"])
        else {
            throw ServiceError(
                .appleAnswerInvalid, "Apple's transaction lacks a field that every transaction has.",
                cause: "transactionId, originalTransactionId, purchaseDate or signedDate is missing")
        }
        return Transaction(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            webOrderLineItemID: members["webOrderLineItemId"]?.string,
            appTransactionID: members["appTransactionId"]?.string,
            appAccountToken: members["appAccountToken"]?.string, productID: members["productId"]?.string,
            productType: members["type"]?.string.map(ProductType.init(rawValue:)), purchaseDate: purchaseDate,
            signedDate: signedDate, revocationDate: Self.date(members["revocationDate"]),
            isFamilyShared: members["inAppOwnershipType"]?.string == "FAMILY_SHARED",
            isAdvancedCommerce: members["advancedCommerceInfo"]?.kind == .object, environment: origin.environment,
            payload: verified.payload, signed: signed)
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
            appTransactionID: verified.members["appTransactionId"]?.string, environment: origin.environment)
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

    private static func date(_ value: JSONSlice?) -> Date? {
        value?.double.map { Date(timeIntervalSince1970: $0 / 1000) }
    }
}
