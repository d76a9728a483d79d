import AppStoreAPI
import AppStoreSimulator
import Curl
import JSON
import Testing

/// Look Up Order ID.
struct OrderLookupTests {
    private func lookUp(
        _ fixture: SimulatorFixture, _ order: String
    ) async throws -> (status: OrderLookupStatus?, ids: [String?]?) {
        let answer = try await fixture.answer(
            OrderLookupResponse.self, .lookUpOrderID(orderId: order), in: .production)
        return (answer.status, try answer.signedTransactions?.map { try fixture.verified($0).transactionId })
    }

    private func orderID(_ fixture: SimulatorFixture, _ id: String?) throws -> String {
        let id = try #require(id)
        return try #require(try fixture.state.order(of: id))
    }

    @Test func `an order holds what was bought in it`() async throws {
        try await SimulatorFixture.with { fixture in
            let bought = try fixture.subscribe(in: .production)
            let id = try #require(bought.transactionId)
            let restored = try #require(try fixture.state.restore(id).transactionId)
            let renewed = try #require(try fixture.state.renew(id).transactionId)
            let order = try orderID(fixture, id)
            #expect(order.count == 10 && order.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) })
            let found = try await lookUp(fixture, order)
            #expect(found.status == .valid && found.ids == [id, restored])
            let next = try await lookUp(fixture, try orderID(fixture, renewed))
            #expect(next.status == .valid && next.ids == [renewed])
        }
    }

    @Test func `an order of nobody, or of another app or environment, is invalid`() async throws {
        try await SimulatorFixture.with { fixture in
            try fixture.state.register(
                RegisteredApp(bundleID: "com.example.other", appAppleID: 2, issuerID: SimulatorFixture.issuerID))
            let account = try fixture.state.createAccount(in: .production).id
            let other = try fixture.buy(by: account) { $0.bundleId = "com.example.other" }
            let sandboxed = try fixture.buyOnce()
            let orders = try [other, sandboxed].map { try orderID(fixture, $0.transactionId) }
            for order in orders + ["MK5TTTVWJH"] {
                let found = try await lookUp(fixture, order)
                #expect(found.status == .invalid && found.ids == nil)
            }
        }
    }

    @Test func `the sandbox has no orders to look up`() async throws {
        try await SimulatorFixture.with { fixture in
            let order = try orderID(fixture, fixture.buyOnce().transactionId)
            let response = try await fixture.call(.lookUpOrderID(orderId: order))
            #expect(response.status == 404 && response.body.isEmpty)
        }
    }

    @Test(arguments: ["MK5-TTT", "MK5 TTT", String(repeating: "M", count: 65)])
    func `what cannot be an order is refused`(order: String) async throws {
        try await SimulatorFixture.with { fixture in
            try await fixture.expect(.generalBadRequest, from: .lookUpOrderID(orderId: order), in: .production)
        }
    }

    @Test func `the control port tells the order of a transaction`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.subscribe(family: "f").transactionId)
            let shared = try #require(try fixture.share(id, family: "f").transactionId)
            let shown = try await fixture.control("GET", "/transactions/\(id)/order")
            #expect(try JSONValue(parsing: shown.body)["orderId"]?.string == fixture.state.order(of: id))
            #expect(try await fixture.control("GET", "/transactions/\(shared)/order").status == 404)
            #expect(try await fixture.control("GET", "/transactions/1/order").status == 404)
        }
    }
}
