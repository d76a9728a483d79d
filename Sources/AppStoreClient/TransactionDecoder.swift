import Domain
import Foundation
import JSON

/// Makes a transaction of the rules out of a verified payload.
struct TransactionDecoder: Sendable {
    let verifier: SignedDataVerifier

    /// Verifies and decodes one signed transaction.
    ///
    /// - Throws: `appleAnswerInvalid`, `environmentNotSupported`.
    func transaction(
        _ signed: String, app: App, environment: AppStoreEnvironment
    ) throws(ServiceError) -> Transaction {
        let verified = try verifier.verify(signed, app: app, environment: environment)
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
            isAdvancedCommerce: members["advancedCommerceInfo"]?.kind == .object, environment: environment,
            payload: verified.payload, signed: signed)
    }

    private static func date(_ value: JSONSlice?) -> Date? {
        value?.double.map { Date(timeIntervalSince1970: $0 / 1000) }
    }
}
