import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import JSON
import Logging
import StoreSQL
import StoreSQLite
import Synchronization
import TestSupport
import Testing

/// Every status of the listener for Apple's notifications, and that it says and reveals no more.
struct WebhookTests {
    private func post(
        _ fixture: RequestHandlerFixture, _ body: String = #"{"signedPayload":"n.n1.n"}"#, app: String = "coins"
    ) async throws -> RequestHandlerFixture.Reply {
        try await fixture.send(.post, "/webhooks/apple/\(app)", body: body, token: nil, to: \.webhook)
    }

    @Test func `a notification of Apple's is kept, once, and the answer is empty`() async throws {
        let fixture = try await RequestHandlerFixture()
        fixture.stack.verifier.know(StoredNotification.sample("n1").notification)
        for _ in 0..<2 {
            let reply = try await post(fixture)
            #expect(reply.status == 200)
            #expect(try reply.json.object?.members.isEmpty == true)
        }
        let list = try await fixture.send(.get, "/v1/apps/coins/notifications").json["notifications"]?.array
        #expect(list?.count == 1 && list?.first?["source"] == "webhook")
    }

    @Test func `its check is on the account of the address that it came from, or of the caller who forwards it`()
        async throws
    {
        let proxies = try TrustedProxies([#require(TrustedProxies.Network("10.0.0.0/8"))])
        let fixture = RequestHandlerFixture(
            try await ServiceStack(apps: RequestHandlerFixture.apps), scopes: [.notificationsWrite],
            trustedProxies: proxies)
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        let body = #"{"signedPayload":"n.n1.n"}"#
        for (peer, said) in [
            ("203.0.113.1", "198.51.100.7"), ("10.0.0.1", "198.51.100.7"), ("10.0.0.1", "2001:db8:0:1::5"),
            (nil, "198.51.100.7"),
        ] {
            let reply = try await fixture.send(
                .post, "/webhooks/apple/coins", body: body, token: nil, headers: [forwarded: said], peer: peer,
                to: \.webhook)
            #expect(reply.status == 401)
        }
        #expect(try await fixture.send(.post, "/v1/apps/coins/notifications", body: body).status == 422)
        #expect(
            fixture.stack.verifier.requesters == [
                .stranger(from: "203.0.113.1"), .stranger(from: "198.51.100.7"),
                .stranger(from: "2001:db8:0:1::/64"), .stranger(from: nil), .known(.caller("billing")),
            ])
    }

    @Test func `its place is its source's, for each app apart`() {
        let expected = [
            "/webhooks/apple/coins": "17.0.0.1 coins", "/webhooks/apple/coins?x=1": "17.0.0.1 coins",
            "/webhooks/apple/gems": "17.0.0.1 gems", "/webhooks/apple/moon": "17.0.0.1", "/webhooks/apple/": "17.0.0.1",
            "/webhooks/apple/coins/": "17.0.0.1", "/coins": "17.0.0.1",
        ]
        for (path, holder) in expected {
            let request = HTTPRequest(method: .post, scheme: "https", authority: "purser.example", path: path)
            #expect(
                Routes.webhookHolder(of: request, from: "17.0.0.1", RequestHandlerFixture.apps) == holder, "\(path)")
        }
    }

    @Test func `members that Apple adds do not matter`() async throws {
        let fixture = try await RequestHandlerFixture()
        fixture.stack.verifier.know(StoredNotification.sample("n1").notification)
        #expect(try await post(fixture, #"{"version":3,"signedPayload":"n.n1.n","more":{}}"#).status == 200)
    }

    @Test func `what Apple did not sign is a 401 and is not kept`() async throws {
        let fixture = try await RequestHandlerFixture()
        let reply = try await post(fixture)
        #expect(reply.status == 401)
        #expect(try reply.json["reason"] == "SIGNATURE_INVALID")
        let list = try await fixture.send(.get, "/v1/apps/coins/notifications").json["notifications"]?.array
        #expect(list?.isEmpty == true)
        #expect(try await fixture.stack.store.quarantineStatus().count == 0)
    }

    @Test(arguments: [
        (ServiceError.Reason.notificationMisdirected, 503, 1), (.verificationBusy, 503, 0), (.signatureInvalid, 401, 0),
        (.environmentNotSupported, 502, 0), (.internalError, 500, 0),
    ])
    func `what cannot be verified has its status`(
        reason: ServiceError.Reason, status: Int, quarantined: Int
    ) async throws {
        let fixture = try await RequestHandlerFixture()
        fixture.stack.verifier.fail("n.n1.n", with: ServiceError(reason, "no", cause: "why"))
        let reply = try await post(fixture)
        #expect(reply.status == status)
        #expect(try reply.json["type"]?.string == "urn:purser:error:\(reason.rawValue)")
        #expect(try await fixture.stack.store.quarantineStatus().count == quarantined)
    }

    @Test func `one that is older than notifications are kept is a 410`() async throws {
        let fixture = try await RequestHandlerFixture()
        fixture.stack.verifier.know(StoredNotification.sample("n1", at: -24 * 181).notification)
        let reply = try await post(fixture)
        #expect(reply.status == 410)
        #expect(try reply.json["reason"] == "NOTIFICATION_TOO_OLD")
    }

    @Test func `storage that fails is a 503`() async throws {
        let fixture = try await RequestHandlerFixture()
        fixture.stack.verifier.know(StoredNotification.sample("n1").notification)
        await fixture.stack.store.close()
        let reply = try await post(fixture)
        #expect(reply.status == 503)
        #expect(try reply.json["reason"] == "STORE_UNAVAILABLE")
    }

    @Test func `more than a mebibyte is a 413, and no less`() async throws {
        let fixture = try await RequestHandlerFixture()
        let frame = #"{"signedPayload":""}"#.utf8.count
        let largest = String(repeating: "a", count: Routes.maximumNotificationBytes - frame)
        #expect(try await post(fixture, #"{"signedPayload":"\#(largest)"}"#).status == 401)
        #expect(try await post(fixture, #"{"signedPayload":"\#(largest)a"}"#).status == 413)
    }

    @Test func `an app that nobody has configured is a 404`() async throws {
        let reply = try await post(try await RequestHandlerFixture(), app: "moon")
        #expect(reply.status == 404)
        #expect(try reply.json["reason"] == "APP_NOT_FOUND")
    }

    @Test(arguments: ["", "[]", "{}", #"{"signedPayload":null}"#, #"{"signed_payload":"a.b.c"}"#])
    func `a body without a signed payload is a 400`(body: String) async throws {
        #expect(try await post(try await RequestHandlerFixture(), body).status == 400)
    }

    @Test func `nothing else is there`() async throws {
        let fixture = try await RequestHandlerFixture()
        let routes: [(HTTPRequest.Method, String, Int)] = [
            (.get, "/webhooks/apple/coins", 405), (.post, "/webhooks/apple", 404), (.get, "/v1/apps", 404),
            (.post, "/v1/apps/coins/notifications", 404), (.get, "/livez", 404), (.get, "/", 404),
        ]
        for (method, path, status) in routes {
            let reply = try await fixture.send(method, path, token: RequestHandlerFixture.token, to: \.webhook)
            #expect(reply.status == status, "\(path)")
        }
    }

    @Test func `the log names neither payload nor app path`() async throws {
        let lines = CapturedLines()
        let fixture = try await RequestHandlerFixture(logger: Logger(label: "test") { _ in lines.handler })
        fixture.stack.verifier.know(StoredNotification.sample("n1").notification)
        #expect(try await post(fixture).status == 200)
        #expect(try await post(fixture, #"{"signedPayload":"secret.payload.here"}"#).status == 401)
        #expect(try await post(fixture, #"{"signedPayload":"secret.payload.here""#).status == 400)
        let text = lines.text
        #expect(text.contains("/webhooks/apple/{app}") && text.contains("signature-invalid"))
        for secret in ["n.n1.n", "secret", "payload.here"] { #expect(!text.contains(secret), "\(secret)") }
    }
}

/// Keeps what is logged.
private final class CapturedLines: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    var handler: any LogHandler { Handler(lines: self) }

    private struct Handler: LogHandler {
        let lines: CapturedLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }
}
