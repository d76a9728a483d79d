import AppStoreAPI
import AppStoreSimulator
import Curl
import JSON
import Testing

struct ConsumptionTests {
    static let good: JSONObject = [
        "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
    ]

    /// The good report with some members changed; nil takes one away.
    private static func body(_ changes: [(String, JSONValue?)]) -> [UInt8] {
        var object = good
        for (name, value) in changes { object[name] = value }
        return JSONValue.object(object).serialized()
    }

    /// Buys something and sends a report on it.
    private func send(
        _ body: [UInt8], _ fixture: SimulatorFixture, contentType: String = "application/json",
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) async throws -> CurlResponse {
        let account = try fixture.state.createAccount(in: .sandbox).id
        let id = try #require(try fixture.buy(by: account, change).transactionId)
        return try await fixture.call(
            .sendConsumptionInformation(transactionId: id), body: body, contentType: contentType)
    }

    private func expect(
        _ error: APIErrorCode, of changes: [(String, JSONValue?)], type: ProductType = .consumable,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await SimulatorFixture.with { fixture in
            let response = try await send(Self.body(changes), fixture) { $0.type = type }
            let payload = try ErrorPayload(parsing: response.body)
            #expect(response.status == 400, sourceLocation: sourceLocation)
            #expect(payload.errorCode == error.code ?? 4_000_000, sourceLocation: sourceLocation)
            if error.code == nil {
                #expect(payload.errorMessage?.hasPrefix(error.name + ":") == true, sourceLocation: sourceLocation)
            }
        }
    }

    @Test(arguments: [
        ProductType.consumable, .nonConsumable, .autoRenewableSubscription, .nonRenewingSubscription,
    ])
    func `a report on any type of product is accepted and shown`(type: ProductType) async throws {
        try await SimulatorFixture.with { fixture in
            let response = try await send(Self.body([]), fixture) { $0.type = type }
            #expect(response.status == 202)
            #expect(response.body.isEmpty)
            let received = try #require(fixture.state.received.requests.last)
            #expect(received.operation == .sendConsumptionInformation)
            #expect(received.body == .object(Self.good))
            #expect(received.consumption == Self.body([]))
            #expect(received.arrival <= received.time)
            #expect(received.status == 202)
        }
    }

    @Test(
        arguments: [
            [("consumptionPercentage", 0)], [("consumptionPercentage", 100_000)], [("consumptionPercentage", nil)],
            [("consumptionPercentage", .null)], [("refundPreference", "DECLINE")], [("refundPreference", "GRANT_FULL")],
            [("refundPreference", "GRANT_PRORATED")],
            [("refundPreference", "GRANT_PRORATED"), ("consumptionPercentage", 1)],
            [("deliveryStatus", "UNDELIVERED_OTHER")],
            [("deliveryStatus", "UNDELIVERED_SERVER_OUTAGE"), ("consumptionPercentage", 0)],
            [("deliveryStatus", "UNDELIVERED_QUALITY_ISSUE")], [("deliveryStatus", "UNDELIVERED_WRONG_ITEM")],
            [("sampleContentProvided", true)], [("later", "member")],
        ] as [[(String, JSONValue?)]])
    func `what Apple allows is accepted`(changes: [(String, JSONValue?)]) async throws {
        try await SimulatorFixture.with { (fixture) async throws in
            #expect(try await send(Self.body(changes), fixture).status == 202)
        }
    }

    @Test(
        arguments: [
            ("customerConsented", false, .invalidCustomerConsented),
            ("customerConsented", nil, .invalidCustomerConsented),
            ("customerConsented", "true", .invalidCustomerConsented),
            ("customerConsented", 1, .invalidCustomerConsented),
            ("deliveryStatus", nil, .invalidDeliveryStatus), ("deliveryStatus", 0, .invalidDeliveryStatus),
            ("deliveryStatus", "delivered", .invalidDeliveryStatus),
            ("sampleContentProvided", nil, .invalidSampleContentProvided),
            ("sampleContentProvided", "false", .invalidSampleContentProvided),
            ("consumptionPercentage", -1, .consumptionPercentageOutOfRange),
            ("consumptionPercentage", 100_001, .consumptionPercentageOutOfRange),
            ("consumptionPercentage", 0.5, .consumptionPercentageOutOfRange),
            ("consumptionPercentage", "1", .consumptionPercentageOutOfRange),
            ("refundPreference", "grant", .invalidRefundPreference), ("refundPreference", 1, .invalidRefundPreference),
        ] as [(String, JSONValue?, APIErrorCode)])
    func `a wrong field has an error of its own`(name: String, value: JSONValue?, error: APIErrorCode) async throws {
        try await expect(error, of: [(name, value)])
    }

    @Test func `what was not delivered cannot have been consumed`() async throws {
        try await expect(
            .undeliveredConsumptionPercentageNonZero,
            of: [("deliveryStatus", "UNDELIVERED_OTHER"), ("consumptionPercentage", 1)])
    }

    @Test func `a subscription's consumption is Apple's to compute`() async throws {
        for percentage in [0, 50_000] as [JSONValue] {
            try await expect(
                .consumptionPercentageAutoRenewableSubscription, of: [("consumptionPercentage", percentage)],
                type: .autoRenewableSubscription)
        }
    }

    @Test func `a prorated refund needs something between nothing and all`() async throws {
        for percentage in [0, 100_000] as [JSONValue] {
            try await expect(
                .invalidRefundPreference,
                of: [("refundPreference", "GRANT_PRORATED"), ("consumptionPercentage", percentage)])
        }
    }

    @Test func `a purchase through Advanced Commerce is refused`() async throws {
        try await SimulatorFixture.with { fixture in
            let response = try await send(Self.body([]), fixture) {
                $0.advancedCommerceInfo = AdvancedCommerceTransactionInfo()
            }
            let message = try ErrorPayload(parsing: response.body).errorMessage
            #expect(response.status == 400)
            #expect(message?.hasPrefix("AdvancedCommerceTransactionNotSupportedError:") == true)
        }
    }

    @Test func `a purchase shared in a family is refused`() async throws {
        try await SimulatorFixture.with { fixture in
            let purchaser = try fixture.state.createAccount(in: .sandbox, family: "f").id
            let member = try fixture.state.createAccount(in: .sandbox, family: "f").id
            let id = try #require(try fixture.buy(by: purchaser) { $0.type = .nonConsumable }.transactionId)
            let shared = try #require(try fixture.state.share(id, with: member).transactionId)
            try await fixture.expect(
                .familyTransactionNotSupported, from: .sendConsumptionInformation(transactionId: shared),
                body: Self.body([]))
        }
    }

    @Test(arguments: ["", "[]", "{", #"{"customerConsented":true,"customerConsented":true}"#, "{} {}"])
    func `what is not one JSON object is malformed, without a number`(body: String) async throws {
        try await SimulatorFixture.with { fixture in
            let response = try await send(Array(body.utf8), fixture)
            #expect(response.status == 400)
            #expect(response.body.isEmpty)
        }
    }

    @Test func `another type of content is refused, parameters do not matter`() async throws {
        try await SimulatorFixture.with { (fixture) async throws in
            let body = Self.body([])
            #expect(try await send(body, fixture, contentType: "text/plain").status == 415)
            #expect(try await send(body, fixture, contentType: "application/json; charset=utf-8").status == 202)
            #expect(try await send(body, fixture, contentType: "Application/JSON").status == 202)
        }
    }

    @Test func `a body beyond the limit is refused`() async throws {
        try await SimulatorFixture.with { (fixture) async throws in
            let long = Self.body([("later", .string(String(repeating: "x", count: 70_000)))])
            #expect(try await send(long, fixture).status == 413)
        }
    }

    @Test func `an identifier must be known before the report is looked at`() async throws {
        try await SimulatorFixture.with { fixture in
            let unknown = Endpoint.sendConsumptionInformation(transactionId: "1")
            try await fixture.expect(.transactionIdNotFound, from: unknown, body: Self.body([]))
            let malformed = Endpoint.sendConsumptionInformation(transactionId: "x")
            try await fixture.expect(.invalidTransactionId, from: malformed, body: Self.body([]))
        }
    }
}
