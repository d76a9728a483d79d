import Foundation
import JOSE
import OpenSSL

@testable import AppStoreClient

/// Signs data as the App Store does, with a chain of its own that `verifier` trusts.
struct TestSigner: Sendable {
    private let key: ECPrivateKey
    private let header: JOSEHeader
    let verifier: SignedDataVerifier

    init() throws {
        let dates = (
            from: TestClock.date.addingTimeInterval(-365 * 86_400), to: TestClock.date.addingTimeInterval(365 * 86_400)
        )
        let rootKey = try IssuingKey(generating: .p384)
        let root = try CertificateBuilder.authority("Test root", notBefore: dates.from, notAfter: dates.to)
            .selfSigned(by: rootKey)
        let intermediateKey = try IssuingKey(generating: .p384)
        var authority = CertificateBuilder.authority(
            "Test intermediate", notBefore: dates.from, notAfter: dates.to, pathLength: 0)
        authority.markerExtensions = [SignedDataVerifier.intermediateExtension]
        let intermediate = try authority.issued(
            to: intermediateKey.subjectPublicKeyInfo(), by: root, key: rootKey)
        key = try ECPrivateKey.generate()
        var signer = CertificateBuilder.signer("Test leaf", notBefore: dates.from, notAfter: dates.to)
        signer.markerExtensions = [SignedDataVerifier.leafExtension]
        let leaf = try signer.issued(to: key.publicKey.derRepresentation, by: intermediate, key: intermediateKey)
        header = JOSEHeader(certificateChain: [leaf.der, intermediate.der, root.der])
        verifier = SignedDataVerifier(roots: [root], now: { TestClock.date })
    }

    /// A compact JWS of a payload in JSON.
    func sign(_ payload: String) throws -> String {
        try CompactJWS.sign(Array(payload.utf8), header: header, with: key)
    }

    /// A signed transaction with the fields that each has, and others.
    func transaction(
        _ id: String = "1000", environment: String = "Production", bundleID: String = "com.example.coins",
        _ others: String = ""
    ) throws -> String {
        try sign(
            """
            {"transactionId":"\(id)","originalTransactionId":"\(id)","bundleId":"\(bundleID)",\
            "environment":"\(environment)","purchaseDate":1700000000000,"signedDate":1700000000000\(others)}
            """)
    }

    /// Signed renewal information, which names no bundle id.
    func renewalInfo(environment: String = "Production") throws -> String {
        try sign(#"{"environment":"\#(environment)","signedDate":1700000000000,"autoRenewStatus":1}"#)
    }

    /// A signed app transaction.
    func appTransaction(receiptType: String = "Production", appAppleID: Int = 1) throws -> String {
        try sign(
            """
            {"receiptType":"\(receiptType)","bundleId":"com.example.coins","appAppleId":\(appAppleID),\
            "receiptCreationDate":1700000000000,"appTransactionId":"70"}
            """)
    }
}
