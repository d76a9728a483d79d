import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import JSON
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// Consumption at the door: Apple's shapes outside, the one way out inside.
struct AppleProxyConsumptionTests {
    private static let v2 = "/inApps/v2/transactions/consumption/1"
    private static let v1 = "/inApps/v1/transactions/consumption/1"
    private static let right =
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#

    private func send(
        _ body: String, to path: String = v2, _ fixture: AppleProxyFixture
    ) async throws -> RequestHandlerFixture.Reply {
        try await fixture.send(.put, path, body: Array(body.utf8), contentType: "application/json")
    }

    @Test func `what Apple accepts is a 202 without a body`() async throws {
        let fixture = try await AppleProxyFixture(accounts: [[.sample(id: "1", account: "A")]])
        let reply = try await send(Self.right, fixture)
        #expect(reply.status == 202)
        #expect(reply.body.isEmpty)
        #expect(reply.headers[.contentType] == nil)
        #expect(fixture.gateway.questions.contains(.consumption("1")))
        #expect(fixture.proxy.forwarded.isEmpty, "there is one way out")
    }

    @Test(arguments: [
        ("{}", 4_000_035), (#"{"customerConsented":false}"#, 4_000_035),
        (#"{"customerConsented":true,"deliveryStatus":"LOST","sampleContentProvided":true}"#, 4_000_036),
        (#"{"customerConsented":true,"deliveryStatus":"DELIVERED"}"#, 4_000_041),
        (
            #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"refundPreference":1}"#,
            4_000_000
        ),
        (
            #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"colour":1}"#,
            4_000_000
        ),
        ("[]", 4_000_000), ("", 4_000_000), ("{", 4_000_000),
    ])
    func `a body that breaks a rule never reaches Apple`(body: String, code: Int64) async throws {
        let fixture = try await AppleProxyFixture(accounts: [[.sample(id: "1", account: "A")]])
        let reply = try await send(body, fixture)
        #expect(reply.status == 400)
        #expect(reply.headers[.contentType] == "application/json")
        #expect(try reply.json["errorCode"]?.int64 == code)
        #expect(try reply.json["errorMessage"]?.string?.isEmpty == false)
        #expect(fixture.gateway.questions.isEmpty)
    }

    @Test func `the number is that of the first rule that has one, the message has all`() async throws {
        let fixture = try await AppleProxyFixture()
        let body = #"{"customerConsented":true,"deliveryStatus":1,"refundPreference":2}"#
        let json = try await send(body, fixture).json
        #expect(json["errorCode"]?.int64 == 4_000_036)
        let message = try #require(json["errorMessage"]?.string)
        for field in ["deliveryStatus", "sampleContentProvided", "refundPreference"] {
            #expect(message.contains(field))
        }
    }

    @Test func `version 1 fields are named as Apple names them`() async throws {
        let fixture = try await AppleProxyFixture()
        let reply = try await send(#"{"customerConsented":true,"accountTenure":9}"#, to: Self.v1, fixture)
        #expect(reply.status == 400)
        #expect(try reply.json["errorCode"]?.int64 == 4_000_032)
        #expect(try reply.json["errorMessage"]?.string?.contains("appleV1") == false)
    }

    @Test(arguments: [ProductType.consumable, .autoRenewableSubscription, .nonConsumable])
    func `version 1 passes whatever was bought, as Apple's libraries write it`(type: ProductType) async throws {
        let purchase = Transaction.sample(id: "1", account: "A", type: type)
        let right =
            #"{"customerConsented":true,"consumptionStatus":2,"platform":1,"sampleContentProvided":false,"deliveryStatus":0,"appAccountToken":"","accountTenure":0,"playTime":0,"lifetimeDollarsRefunded":0,"lifetimeDollarsPurchased":0,"userStatus":1,"refundPreference":0}"#
        let fixture = try await AppleProxyFixture(accounts: [[purchase]])
        let reply = try await send(right, to: Self.v1, fixture)
        #expect(reply.status == 202 && reply.body.isEmpty)
        #expect(fixture.gateway.handOvers.map(\.message.version) == [.v1])
        let unconsented = right.replacingOccurrences(of: "true", with: "false")
        #expect(try await send(unconsented, to: Self.v1, fixture).json["errorCode"] == 4_000_035)
        let nested = try await send(#"{"appleV1":\#(right)}"#, to: Self.v1, fixture)
        #expect(nested.status == 400, "a shape of ours, not of Apple's")
        #expect(try await send(right, to: Self.v2, fixture).status == 400, "the path decides the version")
        let shared = try await AppleProxyFixture(accounts: [[.sample(id: "1", account: "A", isFamilyShared: true)]])
        #expect(try await send(right, to: Self.v1, shared).json["errorCode"] == 4_000_185)
    }

    @Test func `a rule that needs the purchase has Apple's number too`() async throws {
        let fixture = try await AppleProxyFixture(accounts: [[.sample(id: "1", account: "A", isFamilyShared: true)]])
        let reply = try await send(Self.right, fixture)
        #expect(reply.status == 400)
        #expect(try reply.json["errorCode"]?.int64 == 4_000_185)
    }

    @Test func `Apple's refusal passes byte for byte`() async throws {
        let fixture = try await AppleProxyFixture(accounts: [[.sample(id: "1", account: "A")]])
        let bytes = Array(#"{ "errorCode":4000047, "errorMessage":"As Apple says." }"#.utf8)
        let apple = AppleFailure(
            httpStatus: 400, errorCode: 4_000_047, errorName: nil, errorMessage: "As Apple says.",
            environment: .production, endpoint: "Send Consumption Information", body: bytes)
        fixture.gateway.failConsumption(with: ServiceError(.appleRejected, "Apple rejected it.", apple: apple))
        let reply = try await send(Self.right, fixture)
        #expect(reply.status == 400)
        #expect(reply.headers[.contentType] == "application/json")
        #expect(reply.body == bytes)
    }

    @Test func `what Apple does not take in time is Purser's to deliver`() async throws {
        let fixture = try await AppleProxyFixture(accounts: [[.sample(id: "1", account: "A")]], deadline: .zero)
        fixture.gateway.consumptionGate.close()
        defer { fixture.gateway.consumptionGate.open() }
        let reply = try await send(Self.right, fixture)
        #expect(reply.status == 202)
        #expect(reply.body.isEmpty)
        let kept = try #require(try await fixture.stack.store.deliveries(app: "coins", DeliveryQuery()).first)
        #expect(!kept.state.isFinal && kept.caller == "shop" && kept.environment == .production)
        fixture.gateway.consumptionGate.open()
        #expect(try await fixture.stack.delivery(kept.id) { $0.state.isFinal }.state == .accepted)
    }

    @Test func `the same answer is sent once, another one after it has ended`() async throws {
        let fixture = try await AppleProxyFixture(accounts: [[.sample(id: "1", account: "A")]])
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1", account: "A")))
        for _ in 0..<2 { #expect(try await send(Self.right, fixture).status == 202) }
        #expect(fixture.gateway.handOvers.count == 1)
        let other = Self.right.replacingOccurrences(of: "false", with: "true")
        #expect(try await send(other, fixture).status == 202)
        #expect(fixture.gateway.handOvers.count == 2)
    }

    @Test func `a withdrawal and a case that is closed stand against it`() async throws {
        let fixture = try await AppleProxyFixture(accounts: [[.sample(id: "1", account: "A")]])
        let app = try fixture.stack.services.apps.app("coins")
        let alice = try UserID("alice")
        _ = try await fixture.stack.store.declare(
            .sample(.transactionId, "1", user: "alice"), transfer: false)
        _ = try await fixture.stack.services.refunds.consent.record(
            app: app, user: alice, isConsented: false, source: "app", at: nil, caller: "shop")
        let withdrawn = try await send(Self.right, fixture)
        #expect(withdrawn.status == 409)
        #expect(try withdrawn.json["errorCode"]?.int64 == 4_090_000)
        #expect(try withdrawn.json["errorMessage"]?.string?.contains("consent") == true)
        _ = try await fixture.stack.services.refunds.consent.record(
            app: app, user: alice, isConsented: true, source: "app", at: nil, caller: "shop")
        try await fixture.stack.receive(.sample("n1", transaction: .sample(id: "1", account: "A")))
        try await fixture.stack.receive(
            .sample("n2", type: "REFUND", at: 1, transaction: .sample(id: "1", account: "A")))
        let closed = try await send(Self.right, fixture)
        #expect(closed.status == 409)
        #expect(try closed.json["errorCode"]?.int64 == 4_090_000)
        #expect(fixture.gateway.handOvers.isEmpty)
    }

    @Test func `a transaction that Apple does not know is Apple's 404`() async throws {
        let reply = try await send(Self.right, try await AppleProxyFixture())
        #expect(reply.status == 404)
        #expect(try reply.json["errorCode"]?.int64 == 4_040_010)
    }
}
