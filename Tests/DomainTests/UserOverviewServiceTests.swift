import Domain
import Foundation
import TestSupport
import Testing

struct UserOverviewServiceTests {
    private let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)

    private func makeService(
        _ gateway: FakeAppStoreGateway, links: [(LinkTarget.Kind, String, String)]
    ) async throws -> UserOverviewService {
        let store = InMemoryLinkStore()
        for (kind, value, user) in links {
            _ = try await store.declare(try Link.sample(kind, value, user: user), transfer: false)
        }
        return UserOverviewService(
            gateway: gateway, links: store, memory: InMemoryTransactionMemory(),
            now: { Date(timeIntervalSince1970: 9000) })
    }

    private let everything = Set(UserOverview.Part.allCases)

    private var call: UpstreamCall {
        UpstreamCall(app: app, environment: nil, deadline: ContinuousClock.now + .seconds(3600), caller: "billing")
    }

    private func subscription(_ id: String, account: String) -> Transaction {
        .sample(id: id, account: account, type: .autoRenewableSubscription)
    }

    @Test func `it counts what is the user's own and omits what is not`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [
                subscription("1", account: "A"), subscription("2", account: "A"), subscription("3", account: "A"),
                .sample(id: "4", account: "A", revoked: 10), .sample(id: "5", account: "A", revoked: 20),
            ]
        ])
        gateway.setStatus(.expired, of: "2")
        gateway.setStatus(.billingGracePeriod, of: "3")
        let service = try await makeService(
            gateway,
            links: [(.appTransactionId, "A", "alice"), (.transactionId, "1", "bob"), (.transactionId, "5", "bob")])
        let overview = try await service.overview(
            of: try UserID("alice"), parts: everything, isPartialAllowed: false, call)
        let apple = try #require(overview.apple)
        #expect(apple.activeSubscriptions?.map(\.subscription.originalTransactionID) == ["3"])
        #expect(apple.refundCount == 1)
        #expect(apple.othersOmitted == 2)
        #expect(apple.accounts.map(\.target.value) == ["A"])
        #expect(overview.links?.count == 1)
        #expect(overview.isComplete)
    }

    @Test func `several links of one account are one question of each kind`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [
                subscription("1", account: "A"), .sample(id: "2", account: "A", revoked: 10),
                .sample(id: "3", account: "A"),
            ]
        ])
        let service = try await makeService(
            gateway,
            links: [(.transactionId, "1", "alice"), (.transactionId, "2", "alice"), (.transactionId, "3", "alice")])
        _ = try await service.overview(of: try UserID("alice"), parts: everything, isPartialAllowed: false, call)
        let asked = gateway.questions
        #expect(asked.count { if case .subscriptions = $0 { true } else { false } } == 1)
        #expect(asked.count { if case .refunds = $0 { true } else { false } } == 1)
        #expect(asked.contains(.subscriptions("A", [.active, .billingGracePeriod])))
        #expect(gateway.calls.allSatisfy { $0.caller == "billing" && $0.priority == .interactive })
    }

    @Test func `at most four questions are under way at once`() async throws {
        let accounts = (1...6).map { [Transaction.sample(id: "\($0)", account: "A\($0)")] }
        let gateway = FakeAppStoreGateway(accounts: accounts)
        let service = try await makeService(gateway, links: (1...6).map { (.appTransactionId, "A\($0)", "alice") })
        gateway.gate.close()
        async let overview = service.overview(of: try UserID("alice"), parts: everything, isPartialAllowed: false, call)
        await gateway.gate.hasArrivals(4)
        gateway.gate.open()
        #expect(try await overview.apple?.accounts.count == 6)
        #expect(gateway.questions.count == 12)
        #expect(gateway.mostUnderWay == 4)
    }

    @Test(.endsHangs)
    func `the first failure cancels every other question and is the one told`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [subscription("1", account: "A")], [subscription("2", account: "B")],
        ])
        gateway.gate.close()
        gateway.fail("B", with: ServiceError(.appleUnavailable, "down"))
        let service = try await makeService(
            gateway, links: [(.appTransactionId, "A", "alice"), (.appTransactionId, "B", "alice")])
        await #expect(throws: ServiceError(.appleUnavailable, "")) {
            try await service.overview(of: try UserID("alice"), parts: everything, isPartialAllowed: false, call)
        }
    }

    @Test(.endsHangs) func `cancelling it cancels all its questions`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [subscription("1", account: "A")], [subscription("2", account: "B")],
        ])
        let service = try await makeService(
            gateway, links: [(.appTransactionId, "A", "alice"), (.appTransactionId, "B", "alice")])
        gateway.gate.close()
        let call = call
        let task = Task {
            try await service.overview(of: try UserID("alice"), parts: everything, isPartialAllowed: true, call)
        }
        await gateway.gate.hasArrivals(4)
        task.cancel()
        let gaps = try #require(try await task.value.apple?.gaps)
        #expect(gaps.count == 4)
        #expect(gaps.allSatisfy { $0.error.reason == .deadlineExceeded })
    }

    @Test func `parts that fail are gaps where that is allowed, and the rest stands`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [subscription("1", account: "A")], [subscription("2", account: "B")],
        ])
        gateway.fail("B", with: ServiceError(.appleUnavailable, "down"))
        let service = try await makeService(
            gateway, links: [(.appTransactionId, "A", "alice"), (.appTransactionId, "B", "alice")])
        let overview = try await service.overview(
            of: try UserID("alice"), parts: everything, isPartialAllowed: true, call)
        let apple = try #require(overview.apple)
        #expect(apple.activeSubscriptions?.map(\.subscription.originalTransactionID) == ["1"])
        #expect(Set(apple.gaps.map(\.part)) == [.subscriptions, .refunds])
        #expect(apple.gaps.allSatisfy { $0.target.value == "B" })
    }

    @Test func `a user of whom no transaction is known has links and nothing of Apple's`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [])
        let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
        let service = try await makeService(gateway, links: [(.appAccountToken, token, "alice")])
        let overview = try await service.overview(
            of: try UserID("alice"), parts: everything, isPartialAllowed: false, call)
        #expect(overview.links?.map(\.target.value) == [token])
        #expect(overview.apple?.accounts.isEmpty == true && overview.apple?.incompleteReason != nil)
        #expect(gateway.questions.isEmpty)
    }

    @Test(
        arguments: [
            ([], []), ([.links, .consent, .openCases], []), ([.refundCount], [.refunds("A", revision: nil)]),
            ([.activeSubscriptions, .links], [.subscriptions("A", [.active, .billingGracePeriod])]),
        ] as [(Set<UserOverview.Part>, [FakeAppStoreGateway.Question])])
    func `Apple is asked only for what is wanted, and only that is told`(
        parts: Set<UserOverview.Part>, questions: [FakeAppStoreGateway.Question]
    ) async throws {
        let gateway = FakeAppStoreGateway(accounts: [[subscription("1", account: "A")]])
        let service = try await makeService(gateway, links: [(.appTransactionId, "A", "alice")])
        let overview = try await service.overview(
            of: try UserID("alice"), parts: parts, isPartialAllowed: false, call)
        #expect(gateway.questions == questions)
        #expect((overview.links != nil) == parts.contains(.links))
        #expect((overview.apple?.activeSubscriptions != nil) == parts.contains(.activeSubscriptions))
        #expect((overview.apple?.refundCount != nil) == parts.contains(.refundCount))
        #expect((overview.apple != nil) == !questions.isEmpty)
        #expect(overview.isComplete)
    }

    @Test func `an unknown identifier is one gap, whatever was asked about it`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [[subscription("1", account: "A")]])
        let service = try await makeService(
            gateway, links: [(.appTransactionId, "A", "alice"), (.appTransactionId, "Z", "alice")])
        let overview = try await service.overview(
            of: try UserID("alice"), parts: everything, isPartialAllowed: false, call)
        #expect(overview.apple?.activeSubscriptions?.count == 1)
        #expect(overview.apple?.gaps.map(\.target.value) == ["Z"])
        #expect(!overview.isComplete)
    }
}
