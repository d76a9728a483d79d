import Domain
import HTTPTypes
import JSON
import StoreSQLite
import TestSupport
import Testing

/// Batches, app transactions, orders, tokens and the deprecated lists.
struct TransactionActionRoutesTests {
    private let app = "/v1/apps/coins"
    private let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

    private func fixture() async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(accounts: [
            [
                .sample(id: "1", account: "A", type: .autoRenewableSubscription),
                .sample(id: "2", account: "A", revoked: 10),
            ]
        ])
    }

    private func fields(_ reply: RequestHandlerFixture.Reply) throws -> [String] {
        try reply.json["violations"]?.array?.compactMap { $0["field"]?.string } ?? []
    }

    private func codes(_ reply: RequestHandlerFixture.Reply) throws -> [Int64?] {
        try reply.json["violations"]?.array?.map { $0["appleErrorCode"]?.int64 } ?? []
    }

    @Test func `a batch has one entry an id, each with its transaction or its problem`() async throws {
        let fixture = try await fixture()
        let body = #"{"transactionIds":["2","404","2","1"]}"#
        let reply = try await fixture.send(.post, "\(app)/transactions:batchGet?include=signed", body: body)
        #expect(reply.status == 200)
        let entries = try #require(try reply.json["transactions"]?.array)
        #expect(entries.map { $0["transactionId"]?.string } == ["2", "404", "1"])
        #expect(entries[0]["transaction"]?["transactionId"] == "2" && entries[0]["signed"] == "a.b.c")
        #expect(entries[1]["transaction"] == nil && entries[1]["problem"]?["status"] == 404)
        #expect(entries[1]["problem"]?["apple"]?["errorCode"] == 4_040_010)
        #expect(fixture.gateway.questions.count == 3)
        #expect(fixture.gateway.calls.allSatisfy { $0.caller == "billing" })
    }

    @Test func `a batch that breaks rules is told all of them`() async throws {
        let fixture = try await fixture()
        let reply = try await fixture.send(
            .post, "\(app)/transactions:batchGet?colour=1&environment=Moon",
            body: #"{"transactionIds":["1","a/b"],"more":1}"#)
        #expect(reply.status == 400)
        #expect(try Set(fields(reply)) == ["colour", "environment", "transactionIds[1]", "more"])
        #expect(fixture.gateway.questions.isEmpty)
        #expect(try await fixture.send(.post, "\(app)/transactions:batchGet", body: "[]").status == 400)
        #expect(try await fixture.send(.get, "\(app)/transactions:batchGet").status == 405)
    }

    @Test func `subscriptions of a transaction are those of its Apple Account`() async throws {
        let fixture = try await fixture()
        let list = try await fixture.send(.get, "\(app)/transactions/2/subscriptions?status=1").json
        #expect(list["environment"] == "Production")
        #expect(list["subscriptions"]?.array?.map { $0["originalTransactionId"]?.string } == ["1"])
        #expect(fixture.gateway.questions == [.subscriptions("2", [.active])])
        let bad = try await fixture.send(.get, "\(app)/transactions/a%2Fb/subscriptions?status=0")
        #expect(try codes(bad) == [4_000_006, 4_000_031])
    }

    @Test func `an app transaction is Apple's payload`() async throws {
        let reply = try await fixture().send(.get, "\(app)/transactions/1/appTransaction?include=signed")
        #expect(
            String(decoding: reply.body, as: UTF8.self)
                == #"{"appTransaction":{"appTransactionId":"A"},"environment":"Production","verified":true,"signed":"x.y.z"}"#
        )
    }

    @Test func `an app account token is set for an original transaction`() async throws {
        let fixture = try await fixture()
        let target = "\(app)/transactions/1/appAccountToken"
        let reply = try await fixture.send(.put, target, body: #"{"appAccountToken":"\#(token)"}"#)
        #expect(reply.status == 200)
        #expect(try reply.json["originalTransactionId"] == "1")
        #expect(try reply.json["appAccountToken"]?.string == token && reply.json["environment"] == "Production")
        #expect(fixture.gateway.questions == [.setAppAccountToken(token, "1")])
        let bad = try await fixture.send(
            .put, "\(app)/transactions/a%20b/appAccountToken?x=1", body: #"{"appAccountToken":"alice","y":1}"#)
        #expect(try fields(bad) == ["transactionId", "x", "appAccountToken", "y"])
        #expect(try codes(bad) == [4_000_008, nil, 4_000_183, nil])
        #expect(try await fixture.send(.put, target).status == 415)
    }

    @Test func `a token that Apple took and that is not known here is no success`() async throws {
        let fixture = try await fixture()
        await fixture.stack.store.close()
        let reply = try await fixture.send(
            .put, "\(app)/transactions/1/appAccountToken", body: #"{"appAccountToken":"\#(token)"}"#)
        #expect(fixture.gateway.questions == [.setAppAccountToken(token, "1")])
        #expect(reply.status == 503)
        #expect(try reply.json["reason"] == "STORE_UNAVAILABLE")
        #expect(try reply.json["detail"]?.string?.contains("repeat the request") == true)
    }

    @Test func `a verb behind a colon is a route of its own`() async throws {
        let fixture = try await fixture()
        let reply = try await fixture.send(.post, "\(app)/transactions/1:finish?environment=Production")
        #expect(reply.status == 200)
        #expect(try reply.json["transactionId"] == "1" && reply.json["environment"] == "Production")
        #expect(fixture.gateway.questions == [.finish("1")])
        let wrong = try await fixture.send(.get, "\(app)/transactions/1:finish")
        #expect(wrong.status == 405 && wrong.headers[.allow] == "POST")
        #expect(try await fixture.send(.post, "\(app)/transactions/:finish").status == 400)
        #expect(try await fixture.send(.post, "\(app)/transactions/1:start").status == 405)
        #expect(try codes(try await fixture.send(.get, "\(app)/transactions/1:start")) == [4_000_006])
    }

    @Test func `an order has its transactions, and one that is none of the app's is a 404`() async throws {
        let fixture = try await fixture()
        fixture.gateway.addOrder("MVS9", ["1", "2"])
        let order = try await fixture.send(.get, "\(app)/orders/MVS9").json
        #expect(order["orderId"] == "MVS9" && order["status"] == 0 && order["environment"] == "Production")
        #expect(order["transactions"]?.array?.count == 2)
        #expect(fixture.gateway.calls.map(\.environment) == [.production])
        let unknown = try await fixture.send(.get, "\(app)/orders/MVS8?environment=Production")
        #expect(unknown.status == 404)
        #expect(try unknown.json["type"] == "urn:purser:error:order-not-found")
        let bad = try await fixture.send(.get, "\(app)/orders/a%2Fb?environment=Sandbox")
        #expect(try fields(bad) == ["orderId", "environment"])
    }

    @Test func `version 1 reads Apple's deprecated lists`() async throws {
        let fixture = try await fixture()
        let history = try await fixture.send(.get, "\(app)/transactions/1/history?version=1&revision=1").json
        #expect(history["transactions"]?.array?.count == 1 && history["complete"] == true)
        let refunds = try await fixture.send(.get, "\(app)/transactions/1/refunds?version=1").json
        #expect(refunds["transactions"]?.array?.count == 1)
        #expect(refunds["revision"] == nil && refunds["complete"] == true)
        #expect(fixture.gateway.questions == [.historyV1("1", revision: "1"), .refundsV1("1")])
        #expect(try await fixture.send(.get, "\(app)/transactions/1/history?version=2").status == 200)
    }

    @Test func `the lists refuse what their version does not know`() async throws {
        let fixture = try await fixture()
        let paged = try await fixture.send(.get, "\(app)/transactions/a%20b/refunds?version=1&revision=1")
        // The version, which says what kind of identifier it is, is read before the path.
        #expect(try fields(paged) == ["revision", "transactionId"])
        #expect(try codes(paged) == [nil, 4_000_008])
        let empty = try await fixture.send(.get, "\(app)/transactions/1/history?version=3&revision=&startDate=x")
        #expect(try fields(empty) == ["version", "startDate", "revision"])
        #expect(try codes(empty) == [nil, 4_000_015, 4_000_005])
    }
}
