import Domain
import Foundation
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Consumption at the door: Apple's shapes outside, the one way out inside.
struct DoorConsumptionTests {
    private static let v2 = "/inApps/v2/transactions/consumption/1"
    private static let v1 = "/inApps/v1/transactions/consumption/1"
    private static let right =
        #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#

    private func send(
        _ body: String, to path: String = v2, _ fixture: DoorFixture
    ) async throws -> FaceFixture.Reply {
        try await fixture.send(.put, path, body: Array(body.utf8), contentType: "application/json")
    }

    @Test func `what Apple accepts is a 202 without a body`() async throws {
        let fixture = try await DoorFixture(accounts: [[.sample(id: "1", account: "A")]])
        let reply = try await send(Self.right, fixture)
        #expect(reply.status == 202)
        #expect(reply.body.isEmpty)
        #expect(reply.headers[.contentType] == nil)
        #expect(fixture.gateway.questions.contains(.consumption("1")))
        #expect(fixture.door.forwarded.isEmpty, "there is one way out")
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
        let fixture = try await DoorFixture(accounts: [[.sample(id: "1", account: "A")]])
        let reply = try await send(body, fixture)
        #expect(reply.status == 400)
        #expect(reply.headers[.contentType] == "application/json")
        #expect(try reply.json["errorCode"]?.int64 == code)
        #expect(try reply.json["errorMessage"]?.string?.isEmpty == false)
        #expect(fixture.gateway.questions.isEmpty)
    }

    @Test func `the number is that of the first rule that has one, the message has all`() async throws {
        let fixture = try await DoorFixture()
        let body = #"{"customerConsented":true,"deliveryStatus":1,"refundPreference":2}"#
        let json = try await send(body, fixture).json
        #expect(json["errorCode"]?.int64 == 4_000_036)
        let message = try #require(json["errorMessage"]?.string)
        for field in ["deliveryStatus", "sampleContentProvided", "refundPreference"] {
            #expect(message.contains(field))
        }
    }

    @Test func `version 1 fields are named as Apple names them`() async throws {
        let fixture = try await DoorFixture()
        let reply = try await send(#"{"customerConsented":true,"accountTenure":9}"#, to: Self.v1, fixture)
        #expect(reply.status == 400)
        #expect(try reply.json["errorCode"]?.int64 == 4_000_032)
        #expect(try reply.json["errorMessage"]?.string?.contains("appleV1") == false)
    }

    @Test func `a rule that needs the purchase has Apple's number too`() async throws {
        let fixture = try await DoorFixture(accounts: [[.sample(id: "1", account: "A", isFamilyShared: true)]])
        let reply = try await send(Self.right, fixture)
        #expect(reply.status == 400)
        #expect(try reply.json["errorCode"]?.int64 == 4_000_185)
    }

    @Test func `Apple's refusal passes byte for byte`() async throws {
        let fixture = try await DoorFixture(accounts: [[.sample(id: "1", account: "A")]])
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

    @Test func `Apple's 429 keeps its body and tells when to come back`() async throws {
        let fixture = try await DoorFixture(accounts: [[.sample(id: "1", account: "A")]])
        let bytes = Array(#"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#.utf8)
        let apple = AppleFailure(
            httpStatus: 429, errorCode: 4_290_000, errorName: nil, errorMessage: nil, environment: .production,
            endpoint: "Send Consumption Information", body: bytes)
        fixture.gateway.failConsumption(
            with: ServiceError(.appleRateLimited, "Later.", retryAfter: .seconds(10), apple: apple))
        let reply = try await send(Self.right, fixture)
        #expect(reply.status == 429)
        #expect(reply.headers[.retryAfter] == "1700000010500")
        #expect(reply.body == bytes)
    }

    @Test func `a transaction that Apple does not know is Apple's 404`() async throws {
        let reply = try await send(Self.right, try await DoorFixture())
        #expect(reply.status == 404)
        #expect(try reply.json["errorCode"]?.int64 == 4_040_010)
    }
}
