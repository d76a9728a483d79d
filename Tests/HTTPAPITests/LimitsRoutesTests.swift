import Domain
import HTTPAPI
import HTTPTypes
import JSON
import Testing

struct LimitsRoutesTests {
    private let fixture: RequestHandlerFixture

    init() async throws { fixture = try await RequestHandlerFixture() }

    private func use(
        _ calls: Int, _ endpoint: String = "Get Refund History", caller: String, _ priority: CallPriority = .interactive
    ) {
        for _ in 0..<calls {
            _ = fixture.stack.services.operations.budgets.admit(
                BudgetedCall(
                    app: "coins", endpoint: endpoint, environment: .production, caller: caller, priority: priority))
        }
    }

    @Test func `limits are shown with what is left and who used it`() async throws {
        use(30, caller: "billing")
        use(20, caller: "support", .deadlineBound)
        let reply = try await fixture.send(.get, "/v1/apps/coins/limits")
        #expect(reply.status == 200)
        let limit = try #require(try reply.json["limits"]?[0])
        #expect(limit["endpoint"]?.string == "Get Refund History")
        #expect(limit["environment"]?.string == "Production")
        #expect(limit["limit"]?.int64 == 1000)
        #expect(limit["reserved"]?.int64 == 200)
        #expect(limit["used"]?.int64 == 50)
        #expect(limit["remaining"]?.int64 == 770)
        #expect(limit["remainingForYou"]?.int64 == 570)
        #expect(limit["blockedUntil"] == .null)
        #expect(limit["callers"]?.array?.map { $0["caller"]?.string } == ["billing", "support"])
        #expect(limit["callers"]?.array?.map { $0["interactive"]?.int64 } == [30, 0])
        #expect(limit["callers"]?.array?.map { $0["deadlineBound"]?.int64 } == [0, 20])
        let quotas = try #require(try reply.json["quotas"]?.array)
        #expect(quotas.map { $0["caller"]?.string } == ["billing"])
        #expect(quotas.map { $0["callsPerHour"]?.int64 } == [500])
        #expect(quotas.map { $0["used"]?.int64 } == [30])
    }

    @Test func `what has no limit shows its use, and Apple's wish to wait its end`() async throws {
        use(1, "Finish Transaction", caller: "")
        fixture.stack.services.operations.budgets.appleRefused(
            BudgetedCall(
                app: "coins", endpoint: "Finish Transaction", environment: .production, caller: "",
                priority: .interactive), for: .seconds(90))
        let limit = try #require(try await fixture.send(.get, "/v1/apps/coins/limits").json["limits"]?[0])
        #expect(limit["endpoint"]?.string == "Finish Transaction")
        #expect(limit["limit"] == .null)
        #expect(limit["remaining"] == .null)
        #expect(limit["used"]?.int64 == 1)
        #expect(limit["blockedUntil"]?.string?.hasPrefix("2023-11-14T22:14:") == true)
    }

    @Test func `an app of which nothing was used shows its limits in the environments it has`() async throws {
        let reply = try await fixture.send(.get, "/v1/apps/coins/limits")
        #expect(try reply.json["limits"]?.array?.map { $0["used"]?.int64 } == [0])
        #expect(try reply.json["quotas"]?.array?.map { $0["used"]?.int64 } == [0])
    }

    @Test func `the route has a scope of its own, and no parameters`() async throws {
        #expect(
            try await RequestHandlerFixture(scopes: [.refundsRead]).send(.get, "/v1/apps/coins/limits").status == 403)
        #expect(try await fixture.send(.get, "/v1/apps/coins/limits?environment=Sandbox").status == 400)
    }
}
