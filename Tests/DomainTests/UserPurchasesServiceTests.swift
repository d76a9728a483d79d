import Domain
import Foundation
import Synchronization
import TestSupport
import Testing

struct UserPurchasesServiceTests {
    private let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)

    /// A service over an in-memory App Store and links declared as given.
    private func makeService(
        _ gateway: FakeAppStoreGateway, links: [(LinkTarget.Kind, String, String)],
        snapshots: SnapshotCache = SnapshotCache(lifetime: .seconds(600), maximumBytes: 1_000_000),
        isShared: Bool = false, now: @escaping WallClock = { Date(timeIntervalSince1970: 9000) }
    ) async throws -> UserPurchasesService {
        let store = InMemoryLinkStore()
        for (kind, value, user) in links {
            _ = try await store.declare(try Link.sample(kind, value, user: user), transfer: false)
        }
        return UserPurchasesService(
            gateway: gateway, links: store, memory: InMemoryTransactionMemory(), snapshots: snapshots,
            tokens: PageTokenCoder(
                authenticationCode: { content in
                    // Not secret, but it changes with every byte, which is what these tests need.
                    let sum = content.enumerated().reduce(UInt64(7)) {
                        ($0 &* 31) &+ UInt64($1.element) &+ UInt64($1.offset)
                    }
                    return (0..<32).map { UInt8(truncatingIfNeeded: sum >> (8 * UInt64($0 % 8))) }
                },
                encode: { Data($0).base64EncodedString() }, decode: { Data(base64Encoded: $0).map(Array.init) }),
            isShared: isShared, now: now, makeSnapshotID: { UUID().uuidString })
    }

    private func request(
        _ user: String, _ list: UserList = .refunds, pageSize: Int? = nil, token: String? = nil, partial: Bool = false
    ) throws -> UserPurchasesService.Request {
        UserPurchasesService.Request(
            user: try UserID(user), list: list, pageSize: pageSize, pageToken: token, isPartialAllowed: partial)
    }

    private var call: UpstreamCall {
        UpstreamCall(app: app, environment: nil, deadline: ContinuousClock.now + .seconds(3600))
    }

    @Test func `refunds come newest first, without those of others, which are counted`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [
                .sample(id: "1", account: "A", purchased: 10, revoked: 100),
                .sample(id: "2", account: "A", purchased: 20),
                .sample(id: "3", account: "A", purchased: 30, revoked: 300),
                .sample(id: "4", account: "A", purchased: 40, revoked: 200),
            ]
        ])
        let service = try await makeService(
            gateway, links: [(.appTransactionId, "A", "alice"), (.transactionId, "4", "bob")])
        let page = try await service.page(try request("alice"), call)
        #expect(page.transactions.map(\.transactionID) == ["3", "1"])
        #expect(page.list.othersOmitted == 1)
        #expect(page.list.incompleteReason == nil && page.nextPageToken == nil)
    }

    @Test func `many links of one Apple Account cost one refund call`() async throws {
        let purchases = (1...50).map { Transaction.sample(id: "\($0)", account: "A", revoked: Double($0)) }
        let gateway = FakeAppStoreGateway(accounts: [purchases], pageSize: 100)
        let service = try await makeService(
            gateway, links: purchases.map { (.transactionId, $0.transactionID, "alice") })
        _ = try await service.page(try request("alice"), call)
        #expect(refundCalls(gateway).count == 1)
        let before = gateway.questions.count
        let page = try await service.page(try request("alice"), call)
        #expect(gateway.questions.count == before + 1, "the account is known by now")
        #expect(page.transactions.count == 50)
    }

    @Test func `a user with two Apple Accounts gets both`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [.sample(id: "1", account: "A", revoked: 100)], [.sample(id: "2", account: "B", revoked: 200)],
        ])
        let service = try await makeService(
            gateway, links: [(.transactionId, "1", "alice"), (.transactionId, "2", "alice")])
        let page = try await service.page(try request("alice"), call)
        #expect(page.transactions.map(\.transactionID) == ["2", "1"])
        #expect(refundCalls(gateway).count == 2)
    }

    @Test func `accounts that Apple does not name are found by what comes with them`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [.sample(id: "1", revoked: 100), .sample(id: "2", revoked: 200)], [.sample(id: "3", revoked: 300)],
        ])
        let service = try await makeService(
            gateway,
            links: [(.transactionId, "1", "alice"), (.transactionId, "2", "alice"), (.transactionId, "3", "alice")])
        let page = try await service.page(try request("alice"), call)
        #expect(page.transactions.map(\.transactionID) == ["3", "2", "1"])
        #expect(refundCalls(gateway).count == 2)
    }

    @Test func `several transaction ids of one purchase are one entry, as Apple signed it last`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [
                .sample(id: "1", account: "A", signed: 1), .sample(id: "2", original: "1", account: "A", signed: 2),
                .sample(id: "3", original: "9", webOrderLineItem: "w1", account: "A"),
                .sample(id: "4", original: "9", webOrderLineItem: "w2", account: "A"),
            ]
        ])
        let service = try await makeService(gateway, links: [(.appTransactionId, "A", "alice")])
        let page = try await service.page(try request("alice", .transactions(HistoryFilter())), call)
        #expect(Set(page.transactions.map(\.transactionID)) == ["2", "3", "4"])
    }

    @Test func `a user of whom no transaction is known is refused, an appAccountToken alone is not enough`()
        async throws
    {
        let service = try await makeService(
            FakeAppStoreGateway(accounts: []),
            links: [(.appAccountToken, "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "alice")])
        for user in ["alice", "nobody"] {
            await #expect(throws: ServiceError(.noTransactionKnown, "")) {
                try await service.page(try request(user), call)
            }
        }
    }

    @Test func `pages show one snapshot and Apple is read once`() async throws {
        let purchases = (1...5).map { Transaction.sample(id: "\($0)", account: "A", purchased: Double($0)) }
        let gateway = FakeAppStoreGateway(accounts: [purchases])
        let service = try await makeService(gateway, links: [(.appTransactionId, "A", "alice")])
        let list = UserList.transactions(HistoryFilter())
        var page = try await service.page(try request("alice", list, pageSize: 2), call)
        var seen = page.transactions.map(\.transactionID)
        while let token = page.nextPageToken {
            page = try await service.page(try request("alice", list, token: token), call)
            seen += page.transactions.map(\.transactionID)
        }
        #expect(seen == ["5", "4", "3", "2", "1"])
        #expect(gateway.questions.count == 1)
    }

    @Test func `an altered token, or one of another query, is refused`() async throws {
        let purchases = (1...3).map { Transaction.sample(id: "\($0)", account: "A", revoked: Double($0)) }
        let service = try await makeService(
            FakeAppStoreGateway(accounts: [purchases]), links: [(.appTransactionId, "A", "alice")])
        let page = try await service.page(try request("alice", pageSize: 1), call)
        let token = try #require(page.nextPageToken)
        let altered = (token.first == "A" ? "B" : "A") + token.dropFirst()
        for (user, list, token) in [
            ("alice", UserList.refunds, altered), ("bob", .refunds, token),
            ("alice", .transactions(HistoryFilter()), token),
            ("alice", .refunds, "garbage"), ("alice", .refunds, ""),
        ] {
            await #expect(throws: ServiceError(.pageTokenInvalid, "")) {
                try await service.page(try request(user, list, token: token), call)
            }
        }
    }

    @Test func `another copy goes on with a list as long as Apple shows the same one, and its time is not over`()
        async throws
    {
        let purchases = (1...3).map { Transaction.sample(id: "\($0)", account: "A", revoked: Double($0)) }
        let gateway = FakeAppStoreGateway(accounts: [purchases])
        let links: [(LinkTarget.Kind, String, String)] = [(.appTransactionId, "A", "alice")]
        let here = try await makeService(gateway, links: links, isShared: true)
        let there = try await makeService(gateway, links: links, isShared: true)
        let first = try await here.page(try request("alice", pageSize: 1), call)
        let token = try #require(first.nextPageToken)
        let second = try await there.page(try request("alice", token: token), call)
        #expect(second.transactions.map(\.transactionID) == ["2"])
        let next = try #require(second.nextPageToken)
        let third = try await here.page(try request("alice", token: next), call)
        #expect(third.transactions.map(\.transactionID) == ["1"] && third.nextPageToken == nil)
        // The list was read once by each.
        let calls = refundCalls(gateway).count
        _ = try await there.page(try request("alice", token: token), call)
        #expect(refundCalls(gateway).count == calls)

        let more = FakeAppStoreGateway(accounts: [purchases + [.sample(id: "4", account: "A", revoked: 4)]])
        let changed = try await makeService(more, links: links, isShared: true)
        let later = try await makeService(
            gateway, links: links, isShared: true, now: { Date(timeIntervalSince1970: 9600) })
        let alone = try await makeService(gateway, links: links)
        for service in [changed, later, alone] {
            await #expect(throws: ServiceError(.snapshotExpired, "")) {
                try await service.page(try request("alice", token: token), call)
            }
        }
    }

    @Test func `a snapshot that has expired is gone`() async throws {
        let instant = Mutex(ContinuousClock.now)
        let snapshots = SnapshotCache(lifetime: .seconds(600), maximumBytes: 1_000_000) { instant.withLock { $0 } }
        let purchases = (1...3).map { Transaction.sample(id: "\($0)", account: "A", revoked: Double($0)) }
        let service = try await makeService(
            FakeAppStoreGateway(accounts: [purchases]), links: [(.appTransactionId, "A", "alice")],
            snapshots: snapshots)
        let token = try #require(try await service.page(try request("alice", pageSize: 1), call).nextPageToken)
        instant.withLock { $0 += .seconds(599) }
        _ = try await service.page(try request("alice", token: token), call)
        instant.withLock { $0 += .seconds(1) }
        await #expect(throws: ServiceError(.snapshotExpired, "")) {
            try await service.page(try request("alice", token: token), call)
        }
    }

    @Test func `a part that fails fails the whole, or becomes a gap where that is allowed`() async throws {
        let gateway = FakeAppStoreGateway(accounts: [
            [.sample(id: "1", account: "A", revoked: 100)], [.sample(id: "2", account: "B", revoked: 200)],
        ])
        gateway.fail("B", with: ServiceError(.appleUnavailable, "down"))
        let service = try await makeService(
            gateway, links: [(.appTransactionId, "A", "alice"), (.appTransactionId, "B", "alice")])
        await #expect(throws: ServiceError(.appleUnavailable, "")) {
            try await service.page(try request("alice"), call)
        }
        let page = try await service.page(try request("alice", partial: true), call)
        #expect(page.transactions.map(\.transactionID) == ["1"])
        #expect(page.list.gaps.map(\.target.value) == ["B"])
    }

    private func refundCalls(_ gateway: FakeAppStoreGateway) -> [FakeAppStoreGateway.Question] {
        gateway.questions.filter { if case .refunds = $0 { true } else { false } }
    }
}
