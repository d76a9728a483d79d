import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Following what happens.
struct EventRoutesTests {
    private let events = "/v1/apps/coins/events"

    private func page(_ fixture: RequestHandlerFixture, _ query: String) async throws -> JSONValue {
        let reply = try await fixture.send(.get, "\(events)?\(query)")
        #expect(reply.status == 200)
        #expect(reply.headers[.contentType]?.hasPrefix("application/json") == true)
        return try reply.json
    }

    private func types(_ page: JSONValue) -> [String] { page["events"]?.array?.compactMap { $0["type"]?.string } ?? [] }

    /// A refund request that is answered.
    private func answeredRequest() async throws -> RequestHandlerFixture {
        let transaction = Transaction.sample(id: "1", account: "A")
        let fixture = try await RequestHandlerFixture(accounts: [[transaction]])
        _ = try await fixture.send(.put, "/v1/apps/coins/users/alice/links/transactionId/1")
        try await fixture.stack.receive(.sample("n1", transaction: transaction))
        let body = #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#
        let sent = try await fixture.send(.post, "/v1/apps/coins/users/alice/consumption", body: body)
        #expect(sent.status == 200)
        return fixture
    }

    @Test func `everything that happened comes in its order, as CloudEvents`() async throws {
        let fixture = try await answeredRequest()
        let all = try await page(fixture, "after=0")
        #expect(
            types(all) == [
                "purser.notification.received", "purser.case.opened", "purser.delivery.queued",
                "purser.delivery.accepted", "purser.case.answered",
            ])
        #expect(all["hasMore"] == false)
        let list = try #require(all["events"]?.array)
        #expect(all["cursor"] == list.last?["id"])
        let first = try #require(list.first?["id"]?.string)
        #expect(types(try await page(fixture, "after=\(first)")) == Array(types(all).dropFirst()))
        #expect(list[0]["specversion"] == "1.0" && list[0]["source"] == "/v1/apps/coins")
        #expect(list[0]["subject"] == "n1" && list[0]["time"] == "2023-11-14T22:13:20.000Z")
        #expect(list[0]["datacontenttype"] == "application/json")
        #expect(list[0]["data"]?["notificationUUID"] == "n1")
        #expect(list[0]["data"]?["notificationType"] == "CONSUMPTION_REQUEST")
        #expect(list[1]["data"]?["state"] == "open" && list[1]["data"]?["user"] == "alice")
        #expect(list[1]["data"]?["caseId"] == list[1]["subject"] && list[1]["data"]?["transactionId"] == "1")
        #expect(list[3]["data"]?["state"] == "accepted" && list[3]["data"]?["deliveryId"] == list[3]["subject"])
        #expect(list[3]["data"]?["caseId"] == list[1]["subject"] && list[3]["data"]?["environment"] == "Production")
    }

    @Test func `a reader goes on from its cursor and misses nothing`() async throws {
        let fixture = try await answeredRequest()
        var cursor = "0"
        var read: [String] = []
        var hasMore = true
        while hasMore {
            let next = try await page(fixture, "after=\(cursor)&limit=2")
            read += types(next)
            cursor = try #require(next["cursor"]?.string)
            hasMore = next["hasMore"] == true
        }
        #expect(read.count == 5)
        #expect(types(try await page(fixture, "after=\(cursor)")).isEmpty)
    }

    @Test func `a time begins there, and nothing begins with what comes`() async throws {
        let fixture = try await answeredRequest()
        #expect(types(try await page(fixture, "from=2023-11-14T22:13:20Z")).count == 5)
        #expect(types(try await page(fixture, "from=2023-11-14T23:00:00Z")).isEmpty)
        let now = try await page(fixture, "")
        #expect(types(now).isEmpty)
        let cursor = try #require(now["cursor"]?.string)
        try await fixture.stack.receive(.sample("n2", type: "TEST", transaction: nil))
        #expect(types(try await page(fixture, "after=\(cursor)")) == ["purser.notification.received"])
    }

    @Test func `a wait ends with the first event`() async throws {
        let fixture = try await RequestHandlerFixture()
        async let waiting = page(fixture, "after=0&wait=60")
        try await Wait.until("a reader who waits") { fixture.stack.services.operations.events.waitingCount > 0 }
        try await fixture.stack.receive(.sample("n1", type: "TEST", transaction: nil))
        #expect(types(try await waiting) == ["purser.notification.received"])
    }

    @Test func `a wait ends with the request's deadline`() async throws {
        let prefer = HTTPField.Name("Prefer") ?? .via
        let reply = try await RequestHandlerFixture().send(.get, "\(events)?wait=60", headers: [prefer: "wait=0"])
        #expect(reply.status == 200)
        #expect(try reply.json["cursor"]?.string?.hasSuffix("-0") == true && reply.json["hasMore"] == false)
    }

    @Test func `another app's events are not there`() async throws {
        let fixture = try await RequestHandlerFixture()
        try await fixture.stack.receive(
            .sample("n1", type: "TEST", transaction: nil, app: "gems", environment: .sandbox))
        #expect(types(try await page(fixture, "after=0")).isEmpty)
    }

    @Test func `a position that was never given out is refused, one of another store is gone`() async throws {
        let fixture = try await RequestHandlerFixture()
        let cursor = try #require(try await page(fixture, "after=0")["cursor"]?.string)
        let epoch = try #require(cursor.split(separator: "-").first)
        #expect(try await fixture.send(.get, "\(events)?after=\(epoch)-99").status == 400)
        for other in ["0123456789abcdef-0", "99"] {
            let reply = try await fixture.send(.get, "\(events)?after=\(other)")
            #expect(reply.status == 410)
            #expect(try reply.json["reason"] == "CURSOR_EXPIRED")
        }
    }

    @Test(arguments: [
        ("after=x", ["after"]), ("after=-1", ["after"]), ("after=01", ["after"]), ("after=", ["after"]),
        ("after=e1-", ["after"]), ("after=1&from=2023-11-14T22:13:20Z", ["from"]), ("from=soon", ["from"]),
        ("limit=0&wait=61", ["limit", "wait"]), ("limit=1001&wait=-1&since=1", ["since", "limit", "wait"]),
    ])
    func `a question that cannot be answered is refused`(query: String, fields: [String]) async throws {
        let reply = try await RequestHandlerFixture().send(.get, "\(events)?\(query)")
        #expect(reply.status == 400)
        #expect(try reply.json["violations"]?.array?.compactMap { $0["field"]?.string } == fields)
    }
}
