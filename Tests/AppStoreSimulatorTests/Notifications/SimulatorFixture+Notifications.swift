import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JOSE
import JSON
import OpenSSL
import TestSupport
import Testing

extension SimulatorFixture {
    /// Lets the app have its notifications at a receiver.
    func notify(
        _ receiver: NotificationReceiver, in environment: SimulatedEnvironment = .sandbox
    ) throws {
        let url = try #require(NotificationURL(receiver.url))
        try state.setNotificationAddress(
            NotificationAddress(url: url, certificateAuthorities: receiver.authority), of: Self.bundleID,
            in: environment)
    }

    /// Waits until notifications have had so many attempts in all.
    func waitForAttempts(_ count: Int) async throws {
        try await Wait.bounding("\(count) attempts to notify") { [state] in
            await state.wait(for: .notificationAttempted) { state in
                state.notifications.map(\.attempts.count).reduce(0, +) >= count
            }
        }
    }

    /// Verifies a signed payload as a client does and reads it.
    func verifiedPayload(_ signed: String?) throws -> [UInt8] {
        let token = try CompactJWS(try #require(signed))
        let header = try token.parseHeader()
        let certificates = try #require(header.certificateChain)
        try #require(certificates.count == 3)
        let chain = try CertificateChain.verify(
            leaf: certificates[0], intermediate: certificates[1], roots: [simulator.root], at: clock.now,
            requiredLeafExtension: "1.2.840.113635.100.6.11.1",
            requiredIntermediateExtension: "1.2.840.113635.100.6.2.1")
        try token.verify(with: chain.leafPublicKey, header: header)
        return try token.decodePayload()
    }

    /// Verifies a notification and reads it.
    func verifiedNotification(_ signed: String?) throws -> NotificationPayload {
        try NotificationPayload(parsing: verifiedPayload(signed))
    }

    /// The notifications that a receiver got, verified.
    func received(_ receiver: NotificationReceiver) throws -> [NotificationPayload] {
        try receiver.requests.map {
            try verifiedNotification(ResponseBodyV2(parsing: $0.body).signedPayload)
        }
    }

    /// Makes a call that must succeed and reads its answer.
    func answer<Model: WireModel>(
        _ type: Model.Type, _ endpoint: Endpoint, in environment: SimulatedEnvironment = .sandbox,
        body: JSONValue? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Model {
        let response = try await call(endpoint, in: environment, body: body?.serialized())
        try #require(response.status == 200, sourceLocation: sourceLocation)
        return try Model(parsing: response.body)
    }
}
