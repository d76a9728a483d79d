import GRPCCore
import JSON
import Testing

@testable import GRPCAPI

/// What calls ask of routes.
struct RouteRequestTests {
    private func request(
        _ name: String, _ json: String, _ metadata: Metadata = [:]
    ) throws -> RouteRequest {
        let contract = try ContractFixture.contract.get()
        let method = try ContractFixture.method(name)
        var writer = MessageWriter(contract)
        let message = writer.bytes(
            of: try JSONScanner.members(of: Array(json.utf8)), as: method.input)
        return RouteRequestReader(contract).request(message, method, metadata)
    }

    @Test func `path, query, header and body come of the message's fields`() throws {
        let request = try request(
            "SendUserConsumption",
            #"""
            {"app":"coins","user":"a/b é:export","environment":"Sandbox","Idempotency-Key":"k 1","waitSeconds":3,
             "respondAsync":true,"consumption":{"customerConsented":true,"deliveryStatus":"DELIVERED"}}
            """#)
        #expect(request.method == "POST")
        #expect(
            request.target == "/v1/apps/coins/users/a%2Fb%20%C3%A9%3Aexport/consumption?environment=Sandbox")
        #expect(request.body == Array(#"{"customerConsented":true,"deliveryStatus":"DELIVERED"}"#.utf8))
        let headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(headers["idempotency-key"] == "k 1" && headers["prefer"] == "wait=3, respond-async")
        #expect(headers["content-type"] == "application/json" && request.faults.isEmpty)
    }

    @Test func `values of a list are each a parameter, and what is said to be nothing is left out`() throws {
        let request = try request(
            "ListUserTransactions",
            #"""
            {"app":"coins","user":"bob","productId":["a&b","c"],"productType":["CONSUMABLE"],"revoked":false,
             "startDate":1,"pageToken":""}
            """#)
        #expect(
            request.target
                == "/v1/apps/coins/users/bob/transactions?pageToken=&startDate=1&productId=a%26b&productId=c"
                + "&productType=CONSUMABLE&revoked=false")
        #expect(request.body == nil)
    }

    @Test func `a body of the message's own fields has none of the others`() throws {
        let request = try request(
            "RecordConsent", #"{"app":"coins","user":"bob","consented":false,"at":"2026-01-31T12:00:00Z"}"#)
        #expect(request.target == "/v1/apps/coins/users/bob/consent" && request.method == "PUT")
        #expect(request.body == Array(#"{"consented":false,"at":"2026-01-31T12:00:00Z"}"#.utf8))
    }

    @Test func `a body that is missing is an empty one`() throws {
        #expect(try request("SendCaseConsumption", #"{"app":"coins","caseId":"1"}"#).body == Array("{}".utf8))
        #expect(try request("DeclineCase", #"{"app":"coins","caseId":"1"}"#).body == Array("{}".utf8))
    }

    @Test func `a path is asked for even if what should stand in it is missing`() throws {
        let request = try request("GetCase", #"{"app":"coins"}"#)
        #expect(request.target == "/v1/apps/coins/cases/-")
        #expect(request.faults.map(\.field) == ["caseId"] && request.faults.map(\.rule) == ["required"])
    }

    @Test func `a message that names no app, or cannot be read, says so`() throws {
        #expect(try request("GetCase", #"{"app":"coins","caseId":"1"}"#).lacksApp == false)
        #expect(try request("GetCase", #"{"app":"","caseId":"1"}"#).lacksApp)
        #expect(try request("ListApps", "{}").lacksApp == false, "its route has none")
        let reader = RouteRequestReader(try ContractFixture.contract.get())
        let method = try ContractFixture.method("ListCases")
        // A field that is cut off; a name of the app that is not UTF-8.
        for message: [UInt8] in [[0x0A, 0x05, 0x61], [0x0A, 0x01, 0xFF]] {
            let request = reader.request(message, method, [:])
            #expect(request.lacksApp && !request.faults.isEmpty)
        }
    }

    @Test func `of the metadata only what says who asks, and of what the call is part, is passed on`() throws {
        let request = try request(
            "ListApps", "{}",
            [
                "authorization": "Bearer prs_1", "x-request-id": "r", "traceparent": "t", "prefer": "wait=0",
                "content-type": "application/grpc", "host": "evil", "x-forwarded-for": "10.0.0.1",
            ])
        #expect(
            request.headers.map { "\($0.name): \($0.value)" } == [
                "authorization: Bearer prs_1", "x-request-id: r", "traceparent: t", "x-forwarded-for: 10.0.0.1",
            ])
    }

    @Test(arguments: [
        ("1H", 3_600_000), ("2M", 120_000), ("3S", 3_000), ("4m", 4), ("99999999m", 99_999_999), ("5000u", 5),
        ("7000000n", 7),
    ])
    func `a client says how long it waits`(text: String, milliseconds: Int) {
        #expect(CallTimeout.read(["grpc-timeout": .string(text)]) == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "S", "1", "123456789S", "-1S", "1s", "1.5S", "٣S"])
    func `a time that is none counts for nothing`(text: String) {
        #expect(CallTimeout.read(["grpc-timeout": .string(text)]) == nil)
    }
}
