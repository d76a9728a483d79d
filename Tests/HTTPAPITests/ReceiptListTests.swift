import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Receipts as they are read: by id, in lists, and a transaction id out of one.
struct ReceiptListTests {
    private let path = ReceiptFixture.path

    private func list(_ fixture: ReceiptFixture, _ query: String) async throws -> JSONValue {
        let reply = try await fixture.handlers.send(.get, "\(path)?\(query)")
        #expect(reply.status == 200, "\(query)")
        return try reply.json
    }

    private func users(_ list: JSONValue) -> [String?] {
        list["receipts"]?.array?.map { $0["user_identifier"]?.string } ?? []
    }

    /// Three receipts of two users, the last of them fraud.
    private func fixture() async throws -> ReceiptFixture {
        let fixture = try await ReceiptFixture()
        fixture.gateway.fail(
            "7", with: ServiceError(.appleAnswerInvalid, "not ours", cause: ServiceError.otherAppCause))
        for (text, ids, user) in [("r1", ["1"], "alice"), ("r2", [], "bob"), ("r3", ["7"], "alice")] {
            fixture.know(text, ids: ids)
            #expect(try await fixture.upload(text, #""user_identifier":"\#(user)""#).status == 200)
        }
        return fixture
    }

    @Test func `the latest comes first, filtered by user, fraud and time`() async throws {
        let fixture = try await fixture()
        #expect(try await users(list(fixture, "")) == ["alice", "bob", "alice"])
        #expect(try await users(list(fixture, "user=bob")) == ["bob"])
        let fraud = try await list(fixture, "fraud=true")
        #expect(users(fraud) == ["alice"] && fraud["receipts"]?[0]?["is_fraud"] == true)
        #expect(try await users(list(fixture, "fraud=false")) == ["bob", "alice"])
        #expect(try await users(list(fixture, "since=2023-11-14T22:13:20Z")).count == 3)
        #expect(try await users(list(fixture, "since=2023-11-14T22:13:21Z")).isEmpty)
        let wrong = try await fixture.handlers.send(.get, path + "?fraud=maybe&since=then&user=&pageSize=0&x=1")
        #expect(wrong.status == 400)
        let fields = try wrong.json["violations"]?.array?.compactMap { $0["field"]?.string } ?? []
        #expect(Set(fields) == ["fraud", "since", "user", "pageSize", "x"])
    }

    @Test func `pages follow each other to the end`() async throws {
        let fixture = try await fixture()
        var (seen, token, pages): ([String], String?, Int) = ([], nil, 0)
        repeat {
            let page = try await list(fixture, "pageSize=2" + (token.map { "&pageToken=\($0)" } ?? ""))
            seen += page["receipts"]?.array?.compactMap { $0["id"]?.string } ?? []
            token = page["nextPageToken"]?.string.map { $0.replacing("+", with: "%2B").replacing("/", with: "%2F") }
            pages += 1
        } while token != nil && pages < 5
        #expect(pages == 2 && seen.count == 3 && Set(seen).count == 3)
    }

    @Test func `an erasure tells from how many receipts it has removed the user`() async throws {
        let fixture = try await fixture()
        let erased = try await fixture.handlers.send(.delete, "/v1/apps/coins/users/alice")
        #expect(try erased.status == 200 && erased.json["erased"]?["receipts"] == 2)
        #expect(try await users(list(fixture, "")) == [nil, "bob", nil])
    }

    @Test func `a receipt is read by its id, by its own app alone`() async throws {
        let fixture = try await fixture()
        let id = try #require(try await list(fixture, "user=bob")["receipts"]?[0]?["id"]?.string)
        let reply = try await fixture.handlers.send(.get, "\(path)/\(id)")
        #expect(try reply.status == 200 && reply.json["user_identifier"] == "bob")
        let unknown = try await fixture.handlers.send(.get, path + "/018c0000-0000-7000-8000-000000000999")
        #expect(try unknown.status == 404 && unknown.json["type"] == "urn:purser:error:receipt-not-found")
    }

    @Test func `a transaction id comes out of either style, and nothing is kept or asked`() async throws {
        let fixture = try await ReceiptFixture()
        fixture.know("old", style: .transaction, ids: ["33993399"])
        fixture.know("fresh", ids: [])
        let target = path + ":extractTransactionId"
        func extract(_ text: String) async throws -> RequestHandlerFixture.Reply {
            try await fixture.handlers.send(.post, target, body: fixture.body(text))
        }
        #expect(try await extract("good").json == ["transactionId": "1"])
        #expect(try await extract("old").json == ["transactionId": "33993399"])
        #expect(try await extract("fresh").json == ["transactionId": .null])
        let wrong = try await extract("garbage")
        #expect(try wrong.status == 400 && wrong.json["violations"]?[0]?["field"] == "receipt")
        let rules = try await fixture.handlers.send(.post, target, body: #"{"receipt":"?","user":1}"#)
        #expect(try rules.status == 400 && rules.json["violations"]?.array?.count == 2)
        #expect(fixture.gateway.questions.isEmpty)
        #expect(try await list(fixture, "")["receipts"] == [])
    }
}
