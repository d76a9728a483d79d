import Domain
import HTTPTypes
import JSON
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// `signedData:verify`: items one by one, links, and Apple's present view.
struct SignedDataRoutesTests {
    private let path = "/v1/apps/coins/signedData:verify"

    /// Three purchases of two Apple Accounts, as Apple knows them now.
    private func fixture(scopes: Set<Scope> = Set(Scope.allCases)) async throws -> RequestHandlerFixture {
        let stock: [[Transaction]] = [
            [.sample(id: "1", account: "A"), .sample(id: "2", account: "A", revoked: 10)],
            [.sample(id: "3", account: "B", type: .autoRenewableSubscription)],
        ]
        let fixture = try await RequestHandlerFixture(accounts: stock, scopes: scopes)
        for transaction in stock.joined() {
            fixture.stack.signedData.know("t\(transaction.transactionID)", as: transaction)
        }
        return fixture
    }

    private func body(_ items: [(kind: String, signed: String)], _ rest: String = "") -> String {
        let items = items.map { #"{"kind":"\#($0.kind)","signed":"\#($0.signed)"}"# }.joined(separator: ",")
        return #"{"signedData":[\#(items)]\#(rest)}"#
    }

    private func entries(_ reply: RequestHandlerFixture.Reply) throws -> [JSONValue] {
        try #require(try reply.json["signedData"]?.array)
    }

    private func know(
        _ signed: String, _ kind: SignedDataKind, original: String? = nil, account: String? = nil,
        in fixture: RequestHandlerFixture
    ) {
        fixture.stack.signedData.know(
            signed,
            as: .success(
                CheckedData(
                    kind: kind, environment: .production,
                    data: VerifiedData(payload: Array(#"{"new":[1, 2]}"#.utf8), signed: signed),
                    originalTransactionID: original, appTransactionID: account)))
    }

    @Test func `each item is decoded or says which check it did not pass, and a bad one leaves the others alone`()
        async throws
    {
        let fixture = try await fixture()
        know("r", .renewalInfo, original: "3", in: fixture)
        fixture.stack.signedData.know(
            "x", as: .failure(SignedDataFault(.environmentNotSupported, "This data comes from the environment Xcode.")))
        let reply = try await fixture.send(
            .post, path,
            body: body([
                ("transaction", "t1"), ("transaction", "forged"), ("renewalInfo", "r"), ("appTransaction", "x"),
            ]))
        #expect(reply.status == 200)
        #expect(
            String(decoding: reply.body, as: UTF8.self)
                == #"{"signedData":[{"kind":"transaction","transaction":{"transactionId":"1"},"environment":"Production","verified":true},"#
                + #"{"kind":"transaction","verified":false,"failedCheck":"VERIFICATION_FAILURE","detail":"the JWS signature does not match"},"#
                + #"{"kind":"renewalInfo","renewalInfo":{"new":[1, 2]},"environment":"Production","verified":true},"#
                + #"{"kind":"appTransaction","verified":false,"failedCheck":"ENVIRONMENT_NOT_SUPPORTED","detail":"This data comes from the environment Xcode."}]}"#
        )
        #expect(fixture.gateway.questions.isEmpty)
        #expect(try await fixture.stack.store.links(app: "coins", targets: [LinkTarget(.transactionId, "1")]).isEmpty)
    }

    @Test func `a request that breaks rules is told all of them, each item by its position`() async throws {
        let fixture = try await fixture()
        let reply = try await fixture.send(
            .post, path + "?confirm=perhaps&colour=1",
            body:
                #"{"signedData":[{"kind":"notification","signed":"t1"},7,{"signed":"","more":1}],"user":"","extra":1}"#)
        #expect(reply.status == 400)
        let fields = try reply.json["violations"]?.array?.compactMap { $0["field"]?.string }
        #expect(
            fields == [
                "signedData[0].kind", "signedData[1]", "signedData[2].kind", "signedData[2].signed",
                "signedData[2].more",
                "user", "colour", "confirm", "extra",
            ])
        for wrong in [#"{}"#, #"{"signedData":[]}"#, #"{"signedData":"t1"}"#] {
            #expect(try await fixture.send(.post, path, body: wrong).status == 400, "\(wrong)")
        }
    }

    @Test func `a hundred items are taken, one more is not`() async throws {
        let stack = try await fixture().stack
        let fixture = RequestHandlerFixture(stack, scopes: [.transactionsRead], maximumBodyBytes: 65_536)
        let items = Array(repeating: (kind: "transaction", signed: "t1"), count: 100)
        #expect(try await entries(fixture.send(.post, path, body: body(items))).count == 100)
        let reply = try await fixture.send(.post, path, body: body(items + [items[0]]))
        #expect(reply.status == 400)
        #expect(try reply.json["violations"]?[0]?["rule"] == "count")
    }

    @Test func `with a user what verifies is linked, and links of others stay as they are`() async throws {
        let fixture = try await fixture()
        let links = fixture.stack.store
        fixture.stack.signedData.know("shared", as: .sample(id: "8", account: "C", isFamilyShared: true))
        know("app", .appTransaction, account: "D", in: fixture)
        _ = try await links.declare(try .sample(.transactionId, "2", user: "bob"), transfer: false)
        let reply = try await fixture.send(
            .post, path,
            body: body(
                [
                    ("transaction", "t1"), ("transaction", "t2"), ("transaction", "shared"), ("transaction", "forged"),
                    ("appTransaction", "app"),
                ], #","user":"alice""#))
        let entries = try entries(reply)
        #expect(entries.map { $0["link"]?.string } == ["linked", "conflict", "notProven", nil, "linked"])
        #expect(entries[1]["owner"] == "bob")
        let alice = try await links.links(app: "coins", user: try UserID("alice"))
        #expect(alice.map(\.target.value).sorted() == ["1", "1", "A", "D"])
        #expect(
            alice.allSatisfy { $0.source == .signedData && $0.createdBy == "billing" && $0.environment == .production })
        #expect(try await links.links(app: "coins", user: try UserID("bob")).map(\.isInForce) == [true])
        // Once more: nothing new.
        _ = try await fixture.send(.post, path, body: body([("transaction", "t1")], #","user":"alice""#))
        #expect(try await links.links(app: "coins", user: try UserID("alice")).count == 4)
    }

    @Test func `a token that Apple signed names another user, and wins`() async throws {
        let fixture = try await fixture()
        let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
        _ = try await fixture.stack.store.declare(try .sample(.appAccountToken, token, user: "bob"), transfer: false)
        fixture.stack.signedData.know("t9", as: .sample(id: "9", account: "C", token: token))
        let reply = try await fixture.send(.post, path, body: body([("transaction", "t9")], #","user":"alice""#))
        #expect(try entries(reply)[0]["link"] == "conflict" && entries(reply)[0]["owner"] == "bob")
        #expect(try await fixture.stack.store.links(app: "coins", user: try UserID("alice")).isEmpty)
    }

    @Test func `a user takes the scope to write links besides`() async throws {
        let reader = try await fixture(scopes: [.transactionsRead])
        let items = body([("transaction", "t1")], #","user":"alice""#)
        let refused = try await reader.send(.post, path, body: items)
        #expect(refused.status == 403)
        #expect(try refused.json["detail"]?.string?.contains("links:write") == true)
        #expect(try await reader.send(.post, path, body: body([("transaction", "t1")])).status == 200)
        let writer = try await fixture(scopes: [.transactionsRead, .linksWrite])
        #expect(try await writer.send(.post, path, body: items).status == 200)
    }

    @Test func `confirm asks Apple for the present state, once an Apple Account`() async throws {
        let fixture = try await fixture()
        know("r3", .renewalInfo, original: "3", account: "B", in: fixture)
        know("a", .appTransaction, account: "A", in: fixture)
        know("q", .realtimeRequest, original: "3", in: fixture)
        let reply = try await fixture.send(
            .post, path + "?confirm=true",
            body: body([
                ("transaction", "t1"), ("transaction", "t2"), ("transaction", "t1"), ("renewalInfo", "r3"),
                ("appTransaction", "a"), ("realtimeRequest", "q"), ("transaction", "forged"),
            ]))
        let apple = try entries(reply).map { $0["apple"] }
        #expect(apple[0]?["transaction"]?["transactionId"] == "1" && apple[2] == apple[0])
        #expect(apple[1]?["transaction"]?["transactionId"] == "2")
        #expect(apple[3]?["status"] == 1 && apple[3]?["renewalInfo"]?["autoRenewStatus"] == 1)
        #expect(apple[4]?["appTransaction"]?["appTransactionId"] == "A")
        #expect(apple[5] == nil && apple[6] == nil)
        let questions = fixture.gateway.questions
        #expect(questions.count == 3)
        #expect(questions.contains(.history("A", revision: nil)))
        #expect(questions.contains(.subscriptions("B", [])) && questions.contains(.appTransaction("A")))
        #expect(fixture.gateway.calls.allSatisfy { $0.caller == "billing" && $0.environment == .production })
    }

    @Test func `what Apple does not tell is a problem of that item alone`() async throws {
        let fixture = try await fixture()
        fixture.stack.signedData.know("t7", as: .sample(id: "7", account: "A"))
        fixture.stack.signedData.know("t6", as: .sample(id: "6"))
        let reply = try await fixture.send(
            .post, path + "?confirm=true",
            body: body([("transaction", "t1"), ("transaction", "t7"), ("transaction", "t6")]))
        #expect(reply.status == 200)
        let entries = try entries(reply)
        #expect(entries.map { $0["verified"] } == [true, true, true])
        #expect(entries[0]["apple"]?["transaction"]?["transactionId"] == "1")
        for entry in entries.dropFirst() {
            #expect(entry["apple"]?["problem"]?["status"] == 404)
            #expect(entry["apple"]?["problem"]?["apple"]?["errorCode"] == 4_040_010)
        }
    }

    @Test func `too many unknown chains are a 503 that says when to come back`() async throws {
        let fixture = try await fixture()
        fixture.stack.signedData.fail(with: ServiceError(.verificationBusy, "busy", retryAfter: .seconds(1)))
        let reply = try await fixture.send(.post, path, body: body([("transaction", "t1")]))
        #expect(reply.status == 503 && reply.headers[.retryAfter] == "1")
    }
}
