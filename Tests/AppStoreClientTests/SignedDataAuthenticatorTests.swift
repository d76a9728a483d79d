import CoreMetrics
import Domain
import Foundation
import JOSE
import OpenSSL
import Testing

@testable import AppStoreClient

/// Which check is named for what an app hands over.
struct SignedDataAuthenticatorTests {
    private typealias Status = SignedDataFault.Status

    private let signer: TestSigner
    private let authenticator: SignedDataAuthenticator
    private let app = UpstreamFixture.app
    private let requester = Requester.known(.caller("shop"))

    init() throws {
        signer = try TestSigner()
        authenticator = SignedDataAuthenticator(
            verifier: signer.verifier, meter: UpstreamMeter(factory: NOOPMetricsHandler.instance))
    }

    private func status(
        _ signed: String, _ kind: SignedDataKind = .transaction, app: App? = nil
    ) async throws -> Status? {
        switch try await authenticator.check(signed, kind, app: app ?? self.app, for: requester) {
        case .success: nil
        case .failure(let fault): fault.status
        }
    }

    private let realtimeRequest =
        #"{"originalTransactionId":"1","requestIdentifier":"r","environment":"Production","appAppleId":1,"signedDate":1700000000000}"#

    @Test func `what Apple signed for the app comes decoded, byte for byte`() async throws {
        let signed = try signer.transaction("1000", environment: "Sandbox", #","appTransactionId":"70","new":[1]"#)
        let checked = try await authenticator.check(signed, .transaction, app: app, for: requester).get()
        #expect(checked.environment == .sandbox && checked.appTransactionID == "70")
        #expect(checked.transaction?.transactionID == "1000" && checked.originalTransactionID == "1000")
        #expect(String(decoding: checked.data.payload, as: UTF8.self).hasSuffix(#""new":[1]}"#))
        #expect(try await status(signer.renewalInfo(), .renewalInfo) == nil)
        #expect(try await status(signer.appTransaction(), .appTransaction) == nil)
        #expect(try await status(signer.sign(realtimeRequest), .realtimeRequest) == nil)
    }

    @Test(arguments: ["", "a.b", "a.b.c.d", "!.!.!", "eyJhbGciOiJub25lIn0.e30.c2ln", "eyJhbGciOiJFUzI1NiJ9.W10.c2ln"])
    func `what is no signed JSON object has an invalid format`(text: String) async throws {
        #expect(try await status(text) == .invalidJWTFormat)
    }

    @Test func `a header without three certificates has an invalid chain length`() async throws {
        let key = try ECPrivateKey.generate()
        let payload = Array(#"{"environment":"Production"}"#.utf8)
        for certificates in [nil, [[1, 2, 3]], Array(repeating: [1, 2, 3], count: 4)] as [[[UInt8]]?] {
            let signed = try CompactJWS.sign(payload, header: JOSEHeader(certificateChain: certificates), with: key)
            #expect(try await status(signed) == .invalidChainLength)
        }
        let header = JOSEHeader(certificateChain: Array(repeating: [1, 2, 3], count: 3))
        #expect(try await status(CompactJWS.sign(payload, header: header, with: key)) == .invalidCertificate)
    }

    @Test func `another signer, an altered payload and a date outside the certificates fail verification`() async throws
    {
        #expect(try await status(TestSigner().transaction()) == .verificationFailure)
        let (one, other) = (try signer.transaction("1").split(separator: "."), try signer.transaction("2"))
        let altered = "\(one[0]).\(other.split(separator: ".")[1]).\(one[2])"
        #expect(try await status(altered) == .verificationFailure)
        let early = try signer.sign(
            #"{"transactionId":"1","originalTransactionId":"1","bundleId":"com.example.coins","environment":"Production","purchaseDate":1,"signedDate":1}"#
        )
        #expect(try await status(early) == .verificationFailure)
    }

    @Test func `another app, another environment and another kind are told apart`() async throws {
        #expect(try await status(signer.transaction(bundleID: "com.example.gems")) == .invalidAppIdentifier)
        #expect(try await status(signer.appTransaction(appAppleID: 2), .appTransaction) == .invalidAppIdentifier)
        let foreign = realtimeRequest.replacing(#""appAppleId":1"#, with: #""appAppleId":2"#)
        #expect(try await status(signer.sign(foreign), .realtimeRequest) == .invalidAppIdentifier)
        let production = App(slug: "coins", bundleID: app.bundleID, environments: [.production])
        #expect(try await status(signer.transaction(environment: "Sandbox"), app: production) == .invalidEnvironment)
        #expect(try await status(signer.transaction(environment: "Moon")) == .invalidEnvironment)
        for kind in SignedDataKind.fromApps where kind != .transaction {
            #expect(try await status(signer.transaction(), kind) == .invalidKind, "\(kind)")
        }
        #expect(try await status(signer.renewalInfo()) == .invalidKind)
        let dateless =
            #"{"transactionId":"1","originalTransactionId":"1","bundleId":"com.example.coins","#
            + #""environment":"Production","purchaseDate":"yesterday"}"#
        #expect(try await status(signer.sign(dateless)) == .invalidKind)
    }

    @Test(arguments: ["Xcode", "LocalTesting"])
    func `data that is signed locally has a status of its own, before any signature is looked at`(
        name: String
    ) async throws {
        #expect(try await status(TestSigner().transaction(environment: name)) == .environmentNotSupported)
        #expect(try await status(signer.appTransaction(receiptType: name), .appTransaction) == .environmentNotSupported)
    }

    @Test func `unknown chains need room, known ones do not`() async throws {
        let full = SignedDataAuthenticator(
            verifier: signer.verifier, meter: UpstreamMeter(factory: NOOPMetricsHandler.instance),
            bound: ChainCheckBound(underWay: 0, waiting: 0))
        let signed = try signer.transaction()
        await #expect(throws: ServiceError(.verificationBusy, "")) {
            _ = try await full.check(signed, .transaction, app: app, for: requester)
        }
        #expect(try await status(signed) == nil)
        // The verifier's cache knows the chain now.
        _ = try await full.check(signed, .transaction, app: app, for: requester).get()
    }
}
