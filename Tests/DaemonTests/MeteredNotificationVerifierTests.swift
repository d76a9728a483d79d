import Domain
import Foundation
import Testing

@testable import Daemon

/// Notifications are counted by type and result, and nobody can make series without end.
struct MeteredNotificationVerifierTests {
    /// Takes whatever is sent for the type of a notification; nothing at all for a forgery.
    private struct Echo: NotificationVerifier {
        func notification(
            _ signed: String, app: App, for requester: Requester
        ) async throws(ServiceError) -> AppleNotification {
            guard !signed.isEmpty else { throw ServiceError(.signatureInvalid, "Not signed by Apple.") }
            return AppleNotification(
                notificationUUID: "1", notificationType: signed, subtype: nil, signedDate: nil, environment: .sandbox,
                payload: [], signed: signed, transaction: nil, renewalInfo: nil, appTransaction: nil)
        }

        func claims(of signed: String) -> NotificationClaims { NotificationClaims(notificationUUID: signed) }

        func subject(of signed: String) -> NotificationSubject { NotificationSubject() }
    }

    @Test func `types that are not known share one series, as do forgeries`() async throws {
        let registry = PrometheusRegistry(help: MetricsHelp.texts)
        let verifier = MeteredNotificationVerifier(Echo(), metrics: registry)
        let app = App(slug: "coins", bundleID: "com.example.coins")
        for type in ["TEST", "CONSUMPTION_REQUEST", "TEST", "NEW_IN_2030", "NEW_IN_2031"] {
            _ = try await verifier.notification(type, app: app, for: .known(.daemon))
        }
        await #expect(throws: ServiceError.self) { try await verifier.notification("", app: app, for: .known(.daemon)) }
        let lines = registry.render().split(separator: "\n").map(String.init)
        for line in [
            #"purser_notifications_total{app="coins",result="verified",type="TEST"} 2"#,
            #"purser_notifications_total{app="coins",result="verified",type="CONSUMPTION_REQUEST"} 1"#,
            #"purser_notifications_total{app="coins",result="verified",type="other"} 2"#,
            #"purser_notifications_total{app="coins",result="signature-invalid",type="other"} 1"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }
}
