import Domain
import Foundation
import TestSupport
import Testing

/// Links that lead nowhere, or to another environment than they say: told as gaps, and never instead of the rest.
struct UserReadGapsTests {
    private let app = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    private let memory = InMemoryTransactionMemory()
    private let store = InMemoryLinkStore()
    private let gateway = FakeAppStoreGateway(accounts: [
        [.sample(id: "1", account: "A", revoked: 100), .sample(id: "2", account: "A", revoked: 200)],
        [.sample(id: "3", account: "B", revoked: 300, environment: .sandbox)],
    ])

    private func link(
        _ kind: LinkTarget.Kind, _ value: String, _ environment: AppStoreEnvironment? = nil
    ) async throws {
        _ = try await store.declare(
            try Link.sample(kind, value, user: "alice", environment: environment), transfer: false)
    }

    private func refunds(
        in environment: AppStoreEnvironment? = nil, partial: Bool = false, app: App? = nil
    ) async throws -> UserPurchases {
        let service = UserPurchasesService(
            gateway: gateway, links: store, memory: memory,
            snapshots: SnapshotCache(lifetime: .seconds(600), maximumBytes: 1_000_000),
            tokens: PageTokenCoder(
                authenticationCode: TestCode.authenticationCode, encode: { Data($0).base64EncodedString() },
                decode: { Data(base64Encoded: $0).map(Array.init) }),
            now: { Date(timeIntervalSince1970: 9000) }, makeSnapshotID: { UUID().uuidString })
        let request = UserPurchasesService.Request(
            user: try UserID("alice"), list: .refunds, pageSize: nil, pageToken: nil, isPartialAllowed: partial)
        return try await service.page(request, call(in: environment, app)).list
    }

    private func call(in environment: AppStoreEnvironment?, _ app: App? = nil) -> UpstreamCall {
        UpstreamCall(
            app: app ?? self.app, environment: environment, deadline: ContinuousClock.now + .seconds(3600))
    }

    private func ids(_ list: UserPurchases) -> [String] { list.transactions.map(\.transactionID) }

    // MARK: Unknown to Apple

    @Test(arguments: LinkTarget.Kind.allCases.filter { LinkTarget($0, "").isAskable })
    func `the only link leads nowhere: an empty list that names it`(kind: LinkTarget.Kind) async throws {
        try await link(kind, "999")
        let list = try await refunds()
        #expect(ids(list) == [] && list.incompleteReason == nil)
        #expect(list.gaps.map(\.target) == [LinkTarget(kind, "999")])
        #expect(list.gaps.first?.part == .account && list.gaps.first?.error.apple?.errorCode == 4_040_010)
    }

    @Test(arguments: [false, true])
    func `one link that leads nowhere hides nothing of the others`(partial: Bool) async throws {
        try await link(.transactionId, "999")
        try await link(.transactionId, "1")
        try await link(.appTransactionId, "Z")
        try await link(.originalTransactionId, "3")
        let list = try await refunds(partial: partial)
        #expect(ids(list) == ["3", "1"])
        #expect(Set(list.gaps.map(\.target.value)) == ["999", "Z"] && list.gaps.count == 2)
        #expect(list.othersOmitted == 1)
    }

    @Test func `an outage still fails the whole, and names what Apple was asked about`() async throws {
        try await link(.transactionId, "999")
        try await link(.transactionId, "1")
        try await link(.appTransactionId, "B")
        gateway.fail("1", with: ServiceError(.appleUnavailable, "Apple failed."))
        let error = await #expect(throws: ServiceError.self) { try await refunds() }
        #expect(error?.reason == .appleUnavailable)
        #expect(error?.message == "Apple failed. Apple was asked about `transactionId` `1`.")
        let list = try await refunds(partial: true)
        #expect(ids(list) == ["3"])
        #expect(Set(list.gaps.map(\.error.message)) == ["unknown", "Apple failed."])
    }

    @Test(
        arguments: [4_000_006, 4_000_008, 4_040_001, 4_040_005, 4_040_010, 4_040_003, 4_040_006, 4_000_023] as [Int64])
    func `only what Apple says of the identifier is a gap of its link`(code: Int64) async throws {
        try await link(.appTransactionId, "A")
        gateway.fail(
            "A",
            with: ServiceError(
                .appleRejected, "no",
                apple: AppleFailure(
                    httpStatus: 404, errorCode: code, errorName: nil, errorMessage: nil, environment: .production,
                    endpoint: "fake")))
        let isAboutIdentifier = [4_000_006, 4_000_008, 4_040_001, 4_040_005, 4_040_010].contains(code)
        if isAboutIdentifier {
            #expect(try await refunds().gaps.count == 1)
        } else {
            await #expect(throws: ServiceError(.appleRejected, "")) { try await refunds() }
        }
    }

    @Test func `whoever ends the wrong link is rid of the gap`() async throws {
        try await link(.originalTransactionId, "999")
        try await link(.originalTransactionId, "1", .sandbox)
        try await link(.appTransactionId, "B")
        #expect(try await refunds().gaps.count == 2)
        for (kind, value) in [(LinkTarget.Kind.originalTransactionId, "999"), (.originalTransactionId, "1")] {
            _ = try await store.end(
                app: "coins", user: try UserID("alice"), target: LinkTarget(kind, value),
                at: Date(timeIntervalSince1970: 200))
        }
        let list = try await refunds()
        #expect(list.gaps.isEmpty && ids(list) == ["3"])
    }

    @Test func `where nothing is known that Apple can be asked about, that stays an error`() async throws {
        try await link(.appAccountToken, "3f2504e0-4f89-11d3-9a0c-0305e82c3301")
        try await link(.transactionId, "1")
        _ = try await store.end(
            app: "coins", user: try UserID("alice"), target: LinkTarget(.transactionId, "1"),
            at: Date(timeIntervalSince1970: 200))
        for environment in [nil, AppStoreEnvironment.sandbox] {
            await #expect(throws: ServiceError(.noTransactionKnown, "")) { try await refunds(in: environment) }
        }
    }

    // MARK: Environments

    @Test func `in an environment where the user has nothing the list is empty, asked or known`() async throws {
        try await link(.transactionId, "1")
        for _ in 1...2 {
            let list = try await refunds(in: .sandbox)
            #expect(ids(list) == [] && list.gaps.isEmpty)
        }
        let asked = gateway.questions.count
        #expect(asked == 2, "once there and once in the other environment, which is remembered")
        #expect(ids(try await refunds(in: .production)) == ["1"])
    }

    @Test func `links of the other environment alone make an empty list, and cost no call`() async throws {
        try await link(.transactionId, "1", .production)
        try await link(.appTransactionId, "A", .production)
        let list = try await refunds(in: .sandbox)
        #expect(ids(list) == [] && list.gaps.isEmpty && list.othersOmitted == 0)
        #expect(gateway.questions.isEmpty)
    }

    @Test func `in an environment asked for, an identifier known nowhere is a gap still`() async throws {
        try await link(.transactionId, "999")
        #expect(try await refunds(in: .sandbox).gaps.map(\.target.value) == ["999"])
        let single = App(slug: "coins", bundleID: "com.example.coins", environments: [.sandbox])
        let before = gateway.questions.count
        #expect(try await refunds(in: .sandbox, app: single).gaps.map(\.target.value) == ["999"])
        #expect(gateway.questions.count == before + 1, "an app of one environment has no other to look in")
    }

    @Test func `an outage of the other environment is no fault of the one asked for`() async throws {
        try await link(.transactionId, "3")
        gateway.fail("3", with: ServiceError(.appleUnavailable, "down"))
        await #expect(throws: ServiceError(.appleUnavailable, "")) { try await refunds(in: .sandbox) }
        gateway.fail("3", with: nil)
        #expect(ids(try await refunds(in: .sandbox)) == ["3"])
    }

    @Test(arguments: [AppStoreEnvironment?.none, .production, .sandbox])
    func `a link for the wrong environment is told, whether Apple was asked before or not`(
        environment: AppStoreEnvironment?
    ) async throws {
        try await link(.transactionId, "1", .sandbox)
        for isRemembered in [false, true] {
            let list = try await refunds(in: environment)
            #expect(ids(list) == [] && list.othersOmitted == 0)
            // What Apple knows in production is not looked for while nobody asks for that link's environment.
            let isTold = environment != .production || isRemembered
            #expect(list.gaps.map(\.error.reason) == (isTold ? [.linkEnvironmentWrong] : []))
            if isTold {
                #expect(list.gaps.first?.environment == .sandbox)
                #expect(list.gaps.first?.error.message.contains("`?environment=Production`") == true)
            } else {
                try await memory.remember(
                    [KnownIdentifier(identifier: "1", environment: .production, appTransactionID: "A")], app: "coins")
            }
        }
    }

    @Test func `a link for production of an app that has no release there is told, and hides nothing`() async throws {
        try await link(.transactionId, "1", .production)
        try await link(.transactionId, "3")
        gateway.fail("1", with: ServiceError(.noProductionRelease, "no release"))
        let list = try await refunds()
        #expect(ids(list) == ["3"] && list.gaps.map(\.target.value) == ["1"])
        await #expect(throws: ServiceError(.noProductionRelease, "")) { try await refunds(in: .production) }
    }

    @Test func `a wrong link beside the right one is told, and the account is read once`() async throws {
        try await link(.transactionId, "1", .sandbox)
        try await link(.transactionId, "1", .production)
        try await link(.transactionId, "2")
        for _ in 1...2 {
            let list = try await refunds()
            #expect(ids(list) == ["2", "1"])
            #expect(list.gaps.map(\.error.reason) == [.linkEnvironmentWrong])
        }
        let calls = gateway.questions.count { if case .refunds = $0 { true } else { false } }
        #expect(calls == 2, "one a list")
    }
}
