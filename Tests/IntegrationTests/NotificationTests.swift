import AppStoreAPI
import AppStoreSimulator
import Domain
import Foundation
import JSON
import TestSupport
import Testing

/// The webhook as Apple and strangers meet it.
struct NotificationTests {
    /// A notification as Apple signs it, and what the webhook said to it.
    private func post(
        _ fixture: DaemonFixture, tampering: Tampering? = nil
    ) async throws -> (body: String, status: Int) {
        let gems = try await fixture.customer().transaction
        let state = fixture.simulator.state
        var draft = NotificationDraft(
            .refundDeclined, of: DaemonFixture.bundleID, in: .production,
            about: .data(NotifiedPurchase(transaction: try state.transaction(gems))))
        draft.tampering = tampering
        let number = try #require(try state.notify(draft)).number
        try await Wait.bounding("an attempt to deliver notification \(number)") {
            await state.wait(for: .notificationAttempted) {
                $0.notifications.contains { $0.number == number && !$0.attempts.isEmpty }
            }
        }
        let sent = try #require(state.notifications.first { $0.number == number })
        let body = #"{"signedPayload":"\#(try #require(sent.signedPayload))"}"#
        return (body, try await fixture.send("POST", fixture.webhook, body: body).status)
    }

    /// How many of those are kept.
    private func count(_ fixture: DaemonFixture) async throws -> Int? {
        let target = "\(DaemonFixture.app)/notifications?type=REFUND_DECLINED"
        return try await fixture.send("GET", target).json["notifications"]?.array?.count
    }

    @Test func `a notification is kept once, however often it comes`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { (fixture) async throws in
            let (body, status) = try await post(fixture)
            #expect(status == 200)
            #expect(try await fixture.send("POST", fixture.webhook, body: body).status == 200)
            let forwarded = try await fixture.send(
                "POST", "\(DaemonFixture.app)/notifications", body: body)
            #expect(forwarded.status == 200)
            #expect(try await count(fixture) == 1)
            let uuid = try #require(try forwarded.json["notificationUUID"]?.string)
            let kept = try await fixture.send("GET", "\(DaemonFixture.app)/notifications/\(uuid)?include=signed").json
            let signed = try #require(kept["signedPayload"]?.string)
            #expect(body.contains(signed))
        }
    }

    @Test(arguments: [
        (Tampering.foreignRoot, 401), (.wrongSignature, 401), (.expiredCertificate, 401),
        (.wrongBundleId, 503),
    ])
    func `what Apple did not sign is refused, what it signed for another is repeated`(
        tampering: Tampering, status: Int
    ) async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { (fixture) async throws in
            #expect(try await post(fixture, tampering: tampering).status == status)
            #expect(try await count(fixture) == 0)
        }
    }

    @Test func `a post for an unknown app is answered before its body is there`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let port = try #require(URL(string: fixture.webhook)?.port)
            let socket = try #require(AttackSocket(to: port, from: "127.0.0.1"))
            defer { socket.close() }
            var head = Array(
                "POST /webhooks/apple/other HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n"
                    .utf8)[...]
            try await Wait.until("the head to be sent") {
                head = head.dropFirst(socket.send(head) ?? 0)
                return head.isEmpty
            }
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            let reason = #""reason":"APP_NOT_FOUND""#
            try await Wait.until("the answer, or the end") {
                switch socket.receive(into: &buffer) {
                case .nothing: break
                case .bytes(let count): received += buffer[..<count]
                case .end: return true
                }
                return String(decoding: received, as: UTF8.self).contains(reason)
            }
            let answer = String(decoding: received, as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 404 ") && answer.contains(reason), "\(answer)")
        }
    }

    @Test func `the webhook serves nothing else, and nobody a long time`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { (fixture) async throws in
            let base = try #require(URL(string: fixture.webhook))
            #expect(try await fixture.send("POST", fixture.webhook, body: "{}").status == 400)
            #expect(try await fixture.send("GET", fixture.webhook).status == 405)
            for path in ["/webhooks/apple/other", "/v1/apps", "/healthz"] {
                let url = try #require(URL(string: path, relativeTo: base)).absoluteString
                #expect(
                    try await fixture.send("POST", url, body: #"{"signedPayload":"x"}"#).status == 404,
                    "\(path)")
            }
            let long = #"{"signedPayload":"\#(String(repeating: "x", count: 1 << 20))"}"#
            #expect(try await fixture.send("POST", fixture.webhook, body: long).status == 413)
        }
    }
}
