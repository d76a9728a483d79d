import Domain
import HTTPTypes
import JSON

/// Where Apple posts its notifications: verify, keep, answer.
///
/// The App Store takes any status but those of success for "try again", so a status here is also advice to whoever reads logs.
struct WebhookRoutes: Sendable {
    let apps: AppCatalog
    let service: NotificationService

    /// `POST /webhooks/apple/{app}`; Apple may add members to the body.
    func receive(_ input: RequestInput) async throws(ServiceError) -> Answer {
        let app = try apps.app(try input.parameter("app"))
        let body = try SignedPayloadBody(try input.jsonObject(), takesUnknown: true)
        _ = try await service.receive(body.signedPayload, app: app, source: .webhook)
        return Answer.object { _ in }
    }
}
