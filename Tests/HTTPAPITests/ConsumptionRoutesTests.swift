import Domain
import Foundation
import HTTPAPI
import HTTPTypes
import JSON
import TestSupport
import Testing

struct ConsumptionRoutesTests {
    private let good =
        #"{"transactionId":"1","customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#
    private let target = "/v1/apps/coins/users/alice/consumption"

    private func fixture(isAdvancedCommerce: Bool = false) async throws -> RequestHandlerFixture {
        try await RequestHandlerFixture(accounts: [
            [.sample(id: "1", account: "A", isAdvancedCommerce: isAdvancedCommerce)]
        ])
    }

    private func fields(_ reply: RequestHandlerFixture.Reply) throws -> [String] {
        try reply.json["violations"]?.array?.compactMap { $0["field"]?.string } ?? []
    }

    @Test func `what Apple accepts is a delivery`() async throws {
        let reply = try await fixture().send(.post, target, body: good)
        #expect(reply.status == 200)
        let delivery = try reply.json
        #expect(delivery["state"]?.string == "accepted")
        #expect(delivery["user"]?.string == "alice" && delivery["caller"]?.string == "billing")
        #expect(delivery["version"]?.string == "V2" && delivery["environment"]?.string == "Production")
        #expect(delivery["deadline"]?.string == "2023-11-15T10:13:20.000Z")
    }

    @Test func `every violation of the body is told at once`() async throws {
        let fixture = try await fixture()
        let body =
            #"{"transactionId":"a b","environment":"Moon","deadline":"soon","customerConsented":false,"deliveryStatus":true,"colour":"red"}"#
        let key = try #require(HTTPField.Name("Idempotency-Key"))
        let reply = try await fixture.send(.post, "\(target)?verbose=1", body: body, headers: [key: "a b"])
        #expect(reply.status == 400)
        #expect(
            try Set(fields(reply)) == [
                "transactionId", "environment", "deadline", "customerConsented", "deliveryStatus",
                "sampleContentProvided", "colour", "Idempotency-Key", "verbose",
            ])
        #expect(fixture.gateway.questions.isEmpty, "nothing is asked of Apple")
    }

    @Test func `what the purchase forbids is told with the rest, where it is known without asking Apple`() async throws
    {
        let purchase = Transaction.sample(id: "1", account: "A", type: .autoRenewableSubscription)
        let fixture = try await RequestHandlerFixture(accounts: [[purchase]])
        try await fixture.stack.receive(.sample("n1", transaction: purchase))
        let asked = fixture.gateway.questions.count
        let body =
            #""customerConsented":false,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":5000}"#
        let long = String(repeating: "x", count: 129)
        let all = try await fixture.send(.post, "/v1/apps/coins/transactions/1/consumption?x=1", body: "{" + body)
        #expect(try fields(all) == ["x", "customerConsented", "consumptionPercentage"])
        #expect(try all.json["violations"]?[2]?["rule"] == "autoRenewable")
        let cases = try await fixture.send(.get, "/v1/apps/coins/cases").json["cases"]?.array
        let id = try #require(cases?.first?["id"]?.string)
        let ofCase = try await fixture.send(.post, "/v1/apps/coins/cases/\(id)/consumption", body: "{" + body)
        #expect(try fields(ofCase) == ["customerConsented", "consumptionPercentage"])
        // Of whom or what it is about is broken itself: the purchase is not known.
        let nobody = try await fixture.send(
            .post, "/v1/apps/coins/users/\(long)/consumption?x=1", body: #"{"transactionId":"1","# + body)
        #expect(try fields(nobody) == ["user", "x", "customerConsented"])
        let unheardOf = try await fixture.send(
            .post, "/v1/apps/coins/users/alice/consumption", body: #"{"transactionId":"2","# + body)
        #expect(try fields(unheardOf) == ["customerConsented"])
        #expect(fixture.gateway.questions.count == asked, "nothing is asked of Apple")
    }

    @Test func `a violation carries Apple's name and code, the code null where Apple has none`() async throws {
        let body =
            #"{"transactionId":"1","customerConsented":false,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"refundPreference":"X"}"#
        let violations = try #require(try await fixture().send(.post, target, body: body).json["violations"]?.array)
        #expect(violations[0]["appleErrorName"] == "InvalidCustomerConsentedError")
        #expect(violations[0]["appleErrorCode"] == 4_000_035)
        #expect(violations[1]["appleErrorName"] == "InvalidRefundPreferenceError")
        #expect(violations[1]["appleErrorCode"] == .null)
    }

    @Test func `a body that is no JSON object names the byte`() async throws {
        for body in ["", "{", "[]", "null", #"{"a":1,"a":2}"#, "{}x"] {
            let reply = try await fixture().send(.post, target, body: body)
            #expect(reply.status == 400)
            #expect(try reply.json["reason"] == "MALFORMED_JSON", "\(body)")
        }
    }

    @Test func `a body that is too large or not declared as JSON is refused`() async throws {
        let large = good.dropLast() + #","x":"\#(String(repeating: "y", count: 2000))"}"#
        #expect(try await fixture().send(.post, target, body: String(large)).status == 413)
        #expect(
            try await fixture().send(.post, target, body: good, headers: [.contentType: "text/plain"]).status == 415)
        let withCharset = "application/json; charset=utf-8"
        #expect(try await fixture().send(.post, target, body: good, headers: [.contentType: withCharset]).status == 200)
    }

    @Test func `a deadline can only shorten what is allowed`() async throws {
        // The request came at 22:13:20, an hour after Apple signed it: the case ends an hour before 12 hours are over.
        let purchase = Transaction.sample(id: "1", account: "A", type: .autoRenewableSubscription)
        for (deadline, isAllowed) in [
            ("2030-01-01T00:00:00Z", false), ("2023-11-15T09:13:20.001Z", false), ("2023-11-15T09:13:20Z", true),
            ("2023-11-14T22:13:20Z", false), ("2023-11-14T22:13:21Z", true),
        ] {
            let fixture = try await RequestHandlerFixture(accounts: [[purchase]])
            try await fixture.stack.receive(.sample("n1", at: -1, received: 0, transaction: purchase))
            let body = good.dropLast() + #","deadline":"\#(deadline)"}"#
            let reply = try await fixture.send(.post, target, body: String(body))
            #expect(reply.status == (isAllowed ? 200 : 400), "\(deadline)")
            guard !isAllowed else { continue }
            let violation = try #require(try reply.json["violations"]?.array?.first)
            #expect(try fields(reply) == ["deadline"])
            #expect(["future", "latest"].contains(violation["rule"]?.string))
            // With what else is wrong, be it the body or what the purchase forbids.
            let more = body.dropLast() + #","consumptionPercentage":5,"colour":1}"#
            let all = try await fixture.send(.post, target, body: String(more))
            #expect(try Set(fields(all)) == ["deadline", "consumptionPercentage", "colour"])
            let forbidden = body.dropLast() + #","consumptionPercentage":5}"#
            let both = try await fixture.send(.post, target, body: String(forbidden))
            #expect(try Set(fields(both)) == ["deadline", "consumptionPercentage"])
        }
        // Of a request that is not known here, Apple's twelve hours from now.
        for (deadline, status) in [("2023-11-15T10:13:20Z", 200), ("2023-11-15T10:13:20.001Z", 400)] {
            let fixture = try await fixture()
            let body = good.dropLast() + #","deadline":"\#(deadline)"}"#
            #expect(try await fixture.send(.post, target, body: String(body)).status == status)
        }
    }

    @Test func `version 1 fields stand in appleV1 and nowhere else`() async throws {
        let version1 =
            #"{"accountTenure":0,"appAccountToken":"","consumptionStatus":0,"customerConsented":true,"deliveryStatus":0,"lifetimeDollarsPurchased":0,"lifetimeDollarsRefunded":0,"platform":1,"playTime":0,"sampleContentProvided":true,"userStatus":1}"#
        let fixture = try await fixture(isAdvancedCommerce: true)
        let reply = try await fixture.send(.post, target, body: #"{"transactionId":"1","appleV1":\#(version1)}"#)
        #expect(reply.status == 200)
        #expect(try reply.json["version"] == "V1")
        let mixed = #"{"transactionId":"1","appleV1":{"playTime":9},"deliveryStatus":"DELIVERED"}"#
        let violations = try fields(try await fixture.send(.post, target, body: mixed))
        #expect(violations.contains("deliveryStatus") && violations.contains("appleV1.playTime"))
        #expect(
            try fields(try await fixture.send(.post, target, body: #"{"transactionId":"1","appleV1":[]}"#)) == [
                "appleV1"
            ])
    }

    @Test func `the transaction form takes the id from the path and no other`() async throws {
        let path = "/v1/apps/coins/transactions/1/consumption"
        let without = #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#
        let reply = try await fixture().send(.post, path, body: without)
        #expect(reply.status == 200)
        #expect(try reply.json["user"] == .null)
        let other = good.replacingOccurrences(of: #""transactionId":"1""#, with: #""transactionId":"2""#)
        #expect(try fields(try await fixture().send(.post, path, body: other)) == ["transactionId"])
    }

    @Test func `a refusal of Apple keeps its status and shows the delivery`() async throws {
        let fixture = try await fixture()
        fixture.gateway.failConsumption(
            with: ServiceError(
                .appleRejected, "no",
                apple: AppleFailure(
                    httpStatus: 404, errorCode: 4_040_010, errorName: "TransactionIdNotFoundError", errorMessage: "m",
                    environment: .production, endpoint: "Send Consumption Information")))
        let reply = try await fixture.send(.post, target, body: good)
        #expect(reply.status == 404)
        let problem = try reply.json
        #expect(problem["apple"]?["errorCode"] == 4_040_010)
        #expect(problem["delivery"]?["state"] == "refused")
        #expect(problem["type"] == "urn:purser:error:apple-rejected")
    }

    @Test func `a field that the app lets through is sent`() async throws {
        let body = good.dropLast() + #","futureField":"x"}"#
        #expect(try await fixture().send(.post, target, body: String(body)).status == 200)
    }

    @Test func `an environment that the app is not configured for is refused`() async throws {
        let fixture = try await RequestHandlerFixture(scopes: Set(Scope.allCases))
        let body = good.dropLast() + #","environment":"Sandbox"}"#
        let reply = try await fixture.send(.post, "\(target)?environment=Production", body: String(body))
        #expect(try fields(reply) == ["environment"])
    }
}
