import Domain
import Foundation
import HTTPTypes
import JSON
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// Links that are imported over the admin listener.
struct LinkImportRoutesTests {
    private static let target = "/v1/apps/coins/links:import"

    private func send(
        _ body: String, to fixture: RequestHandlerFixture, _ target: String = target
    ) async throws -> RequestHandlerFixture.Reply {
        try await fixture.send(.post, target, body: body, token: nil, to: \.admin)
    }

    private func outcomes(_ reply: RequestHandlerFixture.Reply) throws -> [String] {
        try #require(try reply.json["results"]?.array).map { $0["outcome"]?.string ?? "" }
    }

    private static let mixed = #"""
        [{"user":"alice","kind":"originalTransactionId","value":"1","environment":"Sandbox"},
         {"user":"bob","kind":"originalTransactionId","value":"1"},
         {"user":"","kind":"order","value":"a b","validFrom":"yesterday","colour":1},
         {"user":"carol","kind":"originalTransactionId","value":"2","validFrom":"2020-01-01T00:00:00Z",
          "validUntil":"2021-01-01T00:00:00Z"}]
        """#

    @Test func `each link has its outcome, and one that is refused leaves the others alone`() async throws {
        let fixture = try await RequestHandlerFixture()
        let reply = try await send(#"{"links":\#(Self.mixed)}"#, to: fixture)
        #expect(reply.status == 200)
        #expect(try reply.json["dryRun"]?.bool == false)
        #expect(try outcomes(reply) == ["created", "refused", "refused", "created"])
        let results = try #require(try reply.json["results"]?.array)
        let conflict = try #require(results[1]["problem"])
        #expect(conflict["reason"]?.string == "LINK_CONFLICT")
        #expect(conflict["owner"]?.string == "alice" && conflict["user"]?.string == "bob")
        let violations = try #require(results[2]["problem"]?["violations"]?.array)
        #expect(violations.map { $0["field"]?.string } == ["user", "kind", "validFrom", "colour"])
        let again = try await send(#"{"links":\#(Self.mixed)}"#, to: fixture)
        #expect(try outcomes(again) == ["unchanged", "refused", "refused", "unchanged"])
        let links = try await fixture.send(.get, "/v1/apps/coins/users/alice/links")
        let link = try #require(try links.json["links"]?.array?.first)
        #expect(link["source"]?.string == "import" && link["createdBy"]?.string == "operator")
        let ended = try await fixture.send(.get, "/v1/apps/coins/users/carol/links")
        #expect(try ended.json["links"]?[0]?["validUntil"]?.string == "2021-01-01T00:00:00.000Z")
    }

    @Test func `a dry run tells the same and changes nothing`() async throws {
        let fixture = try await RequestHandlerFixture()
        for _ in 0..<2 {
            let reply = try await send(#"{"dryRun":true,"links":\#(Self.mixed)}"#, to: fixture)
            #expect(try reply.json["dryRun"]?.bool == true)
            #expect(try outcomes(reply) == ["created", "refused", "refused", "created"])
        }
        let targets: Set = [LinkTarget(.originalTransactionId, "1"), LinkTarget(.originalTransactionId, "2")]
        #expect(try await fixture.stack.store.links(app: "coins", targets: targets).isEmpty)
    }

    @Test(arguments: [
        (#"{"user":"a","kind":"transactionId","value":"1","validFrom":"2999-01-01T00:00:00Z"}"#, "validFrom", "future"),
        (
            #"{"user":"a","kind":"transactionId","value":"1","validUntil":"2999-01-01T00:00:00Z"}"#, "validUntil",
            "future"
        ),
        (
            #"{"user":"a","kind":"transactionId","value":"1","validFrom":"2020-01-02T00:00:00Z","validUntil":"2020-01-02T00:00:00Z"}"#,
            "validUntil", "order"
        ),
        (
            #"{"user":"a","kind":"appAccountToken","value":"00000000-0000-0000-0000-000000000000"}"#, "value", "ignored"
        ),
        (#"{"user":"a","kind":"appAccountToken","value":"1"}"#, "value", "format"),
        (#"{"kind":"transactionId","value":"1/2"}"#, "user", "required"), (#"7"#, "", "type"),
        (#"{"user":"a","kind":"transactionId","value":"1","environment":"Xcode"}"#, "environment", "enum"),
        (#"{"user":"a","kind":"transactionId","value":"1","environment":null}"#, "environment", "type"),
    ])
    func `a broken rule is named with its field`(link: String, field: String, rule: String) async throws {
        let fixture = try await RequestHandlerFixture()
        let reply = try await send(#"{"links":[\#(link)]}"#, to: fixture)
        let problem = try #require(try reply.json["results"]?[0]?["problem"])
        let violation = try #require(problem["violations"]?[0])
        #expect(violation["field"]?.string == field)
        #expect(violation["rule"]?.string == rule)
    }

    @Test func `an environment that the app does not have is refused by name`() async throws {
        let fixture = try await RequestHandlerFixture()
        let link = #"{"user":"a","kind":"transactionId","value":"1","environment":"Production"}"#
        let reply = try await send(#"{"links":[\#(link)]}"#, to: fixture, "/v1/apps/gems/links:import")
        #expect(try reply.json["results"]?[0]?["problem"]?["reason"]?.string == "ENVIRONMENT_NOT_ALLOWED")
    }

    @Test func `of one environment alone, an app's links are of that one`() async throws {
        let fixture = try await RequestHandlerFixture()
        let link = #"{"user":"a","kind":"transactionId","value":"1"}"#
        _ = try await send(#"{"links":[\#(link)]}"#, to: fixture, "/v1/apps/gems/links:import")
        let links = try await fixture.stack.store.links(app: "gems", user: try UserID("a"))
        #expect(links.map(\.environment) == [.sandbox])
    }

    @Test func `what is no batch is refused whole`() async throws {
        let fixture = try await RequestHandlerFixture()
        let many = Array(repeating: "1", count: LinkService.maximumImport + 1).joined(separator: ",")
        for body in ["{}", #"{"links":[]}"#, #"{"links":{}}"#, #"{"links":[\#(many)]}"#, #"{"links":[1],"to":"a"}"#] {
            let reply = try await send(body, to: fixture)
            #expect(reply.status == 400, "\(body.prefix(40))")
        }
        let unknown = try await send(#"{"links":[1]}"#, to: fixture, "/v1/apps/nowhere/links:import")
        #expect(unknown.status == 404)
        let api = try await fixture.send(.post, Self.target, body: #"{"links":[1]}"#)
        #expect(api.status == 404, "for operators alone")
    }
}
