import CoreMetrics
import Domain
import JOSE
import Metrics
import TestSupport
import Testing

@testable import AppStoreClient

/// Signed data whose text would cost the square of its length, were it hashed or compared as a `String`.
@Suite(.endsHangs) struct HostileSignedDataTests {
    private let signer: TestSigner
    private let app = UpstreamFixture.app

    init() throws { signer = try TestSigner() }

    private func notification(_ signed: String) async throws(ServiceError) -> AppleNotification {
        let authenticator = NotificationAuthenticator(
            verifier: signer.verifier, meter: UpstreamMeter(factory: NOOPMetricsHandler.instance),
            bound: ChainCheckBound(underWay: 1, waiting: 10))
        return try await authenticator.notification(signed, app: app, for: .stranger(from: "192.0.2.1"))
    }

    private static func unsigned(header: String, payload: String) -> String {
        [header, payload, String(repeating: "x", count: 48)].map { Base64URL.encode(Array($0.utf8)) }
            .joined(separator: ".")
    }

    @Test(arguments: HostileText.allCases) func `what Apple did not sign is rejected`(shape: HostileText) async throws {
        // Such a token may have a quarter of a mebibyte.
        let text = shape.text(bytes: 128 << 10)
        let tokens = [
            Self.unsigned(header: #"{"alg":"\#(text)"}"#, payload: "{}"),
            Self.unsigned(header: #"{"\#(text)":1,"alg":"ES256"}"#, payload: "{}"),
            Self.unsigned(header: #"{"alg":"ES256"}"#, payload: #"{"data":{"environment":"\#(text)"}}"#),
            Self.unsigned(header: #"{"alg":"ES256"}"#, payload: #"{"data":{"bundleId":"\#(text)"}}"#),
            Self.unsigned(header: #"{"alg":"ES256"}"#, payload: #"{"\#(text)":{"bundleId":"b"}}"#),
        ]
        for token in tokens {
            let failure = await #expect(throws: ServiceError.self) { try await notification(token) }
            #expect(failure?.reason == .signatureInvalid || failure?.reason == .environmentNotSupported)
        }
    }

    @Test(arguments: HostileText.allCases) func `what Apple signed is accepted whatever else it contains`(
        shape: HostileText
    ) async throws {
        let text = shape.text(bytes: 32 << 10)
        let signed = try signer.sign(
            #"""
            {"notificationType":"NEW_ONE","notificationUUID":"u","signedDate":1700000000000,"\#(text)":"\#(text)",
            "subtype":"\#(text)","data":{"bundleId":"com.example.coins","appAppleId":1,"environment":"Production"}}
            """#)
        let accepted = try await notification(signed)
        #expect(accepted.notificationType == "NEW_ONE")
        // Nothing is lost of a text that real data has, and of another nothing but its cost.
        let scalars = accepted.subtype?.unicodeScalars.filter { $0 != "\u{034F}" } ?? []
        #expect(scalars.elementsEqual(text.unicodeScalars))
        // To be hashed at once.
        #expect(Set([accepted.subtype]).count == 1)
    }

    @Test(arguments: HostileText.allCases) func `what Apple signed for others is rejected`(
        shape: HostileText
    ) async throws {
        let signed = try signer.sign(
            #"""
            {"notificationType":"NEW_ONE","notificationUUID":"u","signedDate":1700000000000,
            "data":{"bundleId":"com.example.coins\#(shape.text(bytes: 64 << 10))","environment":"Sandbox"}}
            """#)
        await #expect(throws: ServiceError.self) { try await notification(signed) }
    }
}
