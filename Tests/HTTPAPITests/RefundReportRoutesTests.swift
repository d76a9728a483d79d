import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// What became of refund requests, as callers see it.
struct RefundReportRoutesTests {
    private let report = "/v1/apps/coins/refundReport"
    private let consumption = #"""
        {"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,
         "consumptionPercentage":50000,"refundPreference":"GRANT_PRORATED"}
        """#

    private static let transactions: [Transaction] = [
        .priced(id: "1", account: "A", 9990, "USD"), .priced(id: "2", account: "A", 4990, "EUR"),
        .sample(id: "3", account: "A"),
    ]
    private static let refunded = Transaction.priced(id: "1", account: "A", 9990, "USD", returned: 50_000)

    /// Three requests: one that was answered and refunded in part, one that was declined, one that is open.
    private func fixture(scopes: Set<Scope> = Set(Scope.allCases)) async throws -> RequestHandlerFixture {
        let fixture = try await RequestHandlerFixture(
            accounts: [(1...3).map { .sample(id: "\($0)", account: "A") }], scopes: scopes)
        let transactions = Self.transactions
        try await fixture.stack.receive(.sample("n1", reason: "LEGAL", transaction: transactions[0]))
        try await fixture.stack.receive(
            .sample("n2", reason: "=OTHER", at: -1, received: 0, transaction: transactions[1]))
        try await fixture.stack.receive(.sample("n3", at: 1, transaction: transactions[2]))
        try await fixture.stack.receive(.sample("n4", transaction: .sample(id: "9", environment: .sandbox)))
        return fixture
    }

    private func decide(_ fixture: RequestHandlerFixture) async throws {
        let cases = try await fixture.send(.get, "/v1/apps/coins/cases").json["cases"]?.array ?? []
        func id(_ transaction: String) throws -> String {
            try #require(cases.first { $0["transactionId"]?.string == transaction }?["id"]?.string)
        }
        let sent = try await fixture.send(.post, "/v1/apps/coins/cases/\(id("1"))/consumption", body: consumption)
        #expect(sent.status == 200)
        #expect(try await fixture.send(.post, "/v1/apps/coins/cases/\(id("2")):decline").status == 200)
        try await fixture.stack.receive(.sample("n5", type: "REFUND", at: 2, transaction: Self.refunded))
    }

    @Test func `a report counts what became of each request, by what it is grouped by`() async throws {
        let fixture = try await fixture()
        try await decide(fixture)
        let reply = try await fixture.send(.get, "\(report)?groupBy=reason&groupBy=refundPreference&groupBy=week")
        #expect(reply.status == 200 && reply.headers[.contentType] == "application/json; charset=utf-8")
        let json = try reply.json
        #expect(json["environment"] == "Production" && json["from"] == .null && json["to"] == .null)
        #expect(json["groupBy"] == ["reason", "refundPreference", "week"])
        let total = try #require(json["total"])
        #expect(total["requests"] == 3 && total["open"] == 1 && total["answeredInTime"] == 1)
        #expect(total["answeredLate"] == 0 && total["proratedRefunds"] == 1)
        #expect(total["silent"]?["total"] == 1 && total["silent"]?["declined"] == 1)
        #expect(total["silent"]?.object?.keys.count == RefundSilence.allCases.count + 1)
        #expect(
            total["outcomes"] == ["refunded": 1, "refundDeclined": 0, "refundReversed": 0, "undecided": 2])
        #expect(total["meanRevocationPercentage"] == 50_000 && total["requestsWithoutPrice"] == 1)
        #expect(
            total["amounts"] == [
                ["currency": "EUR", "requests": 1, "requested": 4990, "refunded": 0],
                ["currency": "USD", "requests": 1, "requested": 9990, "refunded": 4995],
            ])
        let groups = try #require(json["groups"]?.array)
        #expect(groups.map { $0["reason"] } == [.null, "=OTHER", "LEGAL"])
        #expect(groups.map { $0["refundPreference"] } == [.null, .null, "GRANT_PRORATED"])
        #expect(groups.map { $0["week"] } == ["2023-W46", "2023-W46", "2023-W46"])
        #expect(groups.map { $0["requests"] } == [1, 1, 1] && groups[2]["outcomes"]?["refunded"] == 1)
        #expect(groups[0]["amounts"] == [] && groups[0]["meanRevocationPercentage"] == .null)
    }

    @Test func `a span of time and an environment leave out the rest`() async throws {
        let fixture = try await fixture()
        func requests(_ query: String) async throws -> JSONValue? {
            try await fixture.send(.get, "\(report)?\(query)").json["total"]?["requests"]
        }
        #expect(try await requests("") == 3)
        #expect(try await requests("environment=Sandbox") == 1)
        // The time of the request itself counts at the beginning, and not at the end.
        #expect(try await requests("from=2023-11-14T22:13:20Z") == 2)
        #expect(try await requests("to=2023-11-14T22:13:20Z") == 1)
        #expect(try await requests("from=2023-11-14T22:13:20.001%2B00:00&to=2023-11-14T23:13:20.001Z") == 1)
        #expect(try await fixture.send(.get, "/v1/apps/gems/refundReport").status == 403)
    }

    @Test func `a table has a line for each group and currency`() async throws {
        let fixture = try await fixture()
        try await decide(fixture)
        let target = "\(report)?groupBy=reason&groupBy=productId"
        let reply = try await fixture.send(.get, "\(target)&format=csv")
        #expect(reply.status == 200 && reply.headers[.contentType] == "text/csv; charset=utf-8; header=present")
        let lines = String(decoding: reply.body, as: UTF8.self).components(separatedBy: "\r\n")
        #expect(
            lines == [
                "productId,reason,currency,requests,open,answeredInTime,answeredLate,silent.declined,"
                    + "silent.declinedByPolicy,silent.consentWithdrawn,silent.refusedByApple,silent.deadlineExceeded,"
                    + "silent.cancelled,silent.ownerUnknown,silent.decidedFirst,silent.unanswered,outcomes.refunded,"
                    + "outcomes.refundDeclined,outcomes.refundReversed,outcomes.undecided,proratedRefunds,"
                    + "meanRevocationPercentage,requested,refunded",
                "gems,,,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,,,",
                "gems,'=OTHER,EUR,1,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,1,0,,4990,0",
                "gems,LEGAL,USD,1,0,1,0,0,0,0,0,0,0,0,0,0,1,0,0,0,1,50000,9990,4995", "",
            ])
        let asked = try await fixture.send(.get, target, headers: [.accept: "text/csv, */*;q=0.1"])
        #expect(asked.body == reply.body && asked.headers[.vary] == "Accept")
        let overruled = try await fixture.send(.get, "\(target)&format=json", headers: [.accept: "text/csv"])
        #expect(overruled.headers[.contentType] == "application/json; charset=utf-8")
        let head = try await fixture.send(.head, "\(target)&format=csv")
        #expect(head.body.isEmpty && head.headers[.contentLength] == "\(reply.body.count)")
        let none = try await fixture.send(.get, "\(target)&format=csv&to=2000-01-01T00:00:00Z")
        #expect(String(decoding: none.body, as: UTF8.self) == lines[0] + "\r\n")
    }

    @Test func `what a report cannot be asked is told, all at once`() async throws {
        let fixture = try await fixture()
        let broken = try await fixture.send(
            .get,
            "\(report)?groupBy=product&from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z&format=xml&since=x&environment=Xcode"
        )
        #expect(broken.status == 400)
        let fields = try broken.json["violations"]?.array?.compactMap { $0["field"]?.string } ?? []
        #expect(Set(fields) == ["groupBy", "to", "format", "since", "environment"])
        let dates = try await fixture.send(.get, "\(report)?from=2026-02-01&to=yesterday")
        #expect(try dates.json["violations"]?.array?.count == 2)
        let stranger = try await RequestHandlerFixture(scopes: [.eventsRead, .consumptionWrite])
        #expect(try await stranger.send(.get, report).status == 403)
    }

    @Test func `a report of more rows than one piece comes whole`() async throws {
        let fixture = try await RequestHandlerFixture(scopes: [.consumptionRead])
        let store = fixture.stack.store
        for number in 0..<300 {
            let reason = "reason \(number) " + String(repeating: "x", count: 300)
            try await store.take(.sample("n\(number)", reason: reason, transaction: .sample(id: "\(number)")))
        }
        let reply = try await fixture.send(.get, "\(report)?groupBy=reason")
        #expect(reply.body.count > 1 << 17, "more than one piece of 64 KiB")
        let groups = try #require(try reply.json["groups"]?.array)
        #expect(groups.count == 300 && groups.allSatisfy { $0["requests"] == 1 })
        let table = try await fixture.send(.get, "\(report)?groupBy=reason&format=csv")
        #expect(table.body.count > 1 << 16)
        #expect(String(decoding: table.body, as: UTF8.self).components(separatedBy: "\r\n").count == 302)
    }
}
