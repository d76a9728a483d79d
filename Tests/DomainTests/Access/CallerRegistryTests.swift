import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Domain

/// What each process knows of callers, and how soon.
struct CallerRegistryTests {
    private let fixture = CallerFixture()

    @Test func `a revocation takes effect in every process with the next look, which is less than 5 s away`()
        async throws
    {
        #expect(CallerRegistry.refreshInterval <= .seconds(5))
        let (here, there) = (try await fixture.registry(), try await fixture.registry())
        let administration = fixture.administration(here)
        let token = try #require(
            try await administration.add(fixture.addition(), by: CallerFixture.actor).token)
        let authorization = "Bearer \(token.text)"
        try await there.refresh(from: fixture.store)
        for registry in [here, there] { #expect(fixture.resolver(registry).found(authorization).name == "shop") }
        _ = try await administration.revoke(token: token.id, of: "shop", by: CallerFixture.actor)
        #expect(fixture.resolver(here).found(authorization).name == nil, "at once where it was done")
        try await there.refresh(from: fixture.store)
        #expect(fixture.resolver(there).found(authorization).name == nil)
    }

    @Test func `a look that finds nothing new reads nothing, and one that comes late takes nothing back`() async throws
    {
        let registry = try await fixture.registry()
        let version = registry.version
        try await registry.refresh(from: fixture.store)
        #expect(registry.version == version)
        @Sendable func caller(_ scopes: Set<Scope>) -> StoredCaller {
            StoredCaller(name: "shop", createdAt: CallerFixture.start, grants: ["coins": scopes])
        }
        let first = try await fixture.store.updateCaller("shop") { _ in caller([.refundsRead]) }
        let second = try await fixture.store.updateCaller("shop") { _ in caller([.linksRead]) }
        registry.apply(second)
        registry.apply(first)
        #expect(registry.read { $0.caller("shop")?.scopes } == ["coins": [.linksRead]])
        try await registry.refresh(from: fixture.store)
        registry.apply(second)
        #expect(registry.read { $0.caller("shop")?.scopes } == ["coins": [.linksRead]])
    }

    @Test func `what is changed while everything is read anew stands`() async throws {
        let registry = try await fixture.registry()
        _ = try await fixture.store.updateCaller("shop") { _ in
            StoredCaller(name: "shop", createdAt: CallerFixture.start, bindings: [.uid(7)])
        }
        let store = InterruptedStore(inner: fixture.store)
        await store.whenRead {
            let change = try await fixture.store.updateCaller("shop") { _ in
                StoredCaller(name: "shop", createdAt: CallerFixture.start)
            }
            registry.apply(change)
        }
        try await registry.refresh(from: store)
        #expect(registry.read { $0.owner(of: .uid(7)) } == nil)
        try await registry.refresh(from: fixture.store)
        #expect(registry.read { $0.owner(of: .uid(7)) } == nil && registry.read { $0.caller("shop") } != nil)
    }

    @Test func `uses are told to the store now and then, and again when that failed`() async throws {
        let registry = try await fixture.registry()
        registry.noteUse(of: .token(id: "a"), by: "billing", at: CallerFixture.start)
        registry.noteUse(of: .token(id: "a"), by: "billing", at: CallerFixture.start + 59)
        registry.noteUse(of: .binding(.uid(1000)), by: "billing", at: CallerFixture.start + 61)
        let store = InterruptedStore(inner: fixture.store)
        await store.failUses()
        await #expect(throws: ServiceError(.storeUnavailable, "")) { try await registry.saveUses(to: store) }
        #expect(try await fixture.store.callerUses().isEmpty)
        try await registry.saveUses(to: fixture.store)
        let kept = [
            CallerUse(caller: "billing", credential: .token(id: "a"), lastUsedAt: CallerFixture.start),
            CallerUse(caller: "billing", credential: .binding(.uid(1000)), lastUsedAt: CallerFixture.start + 61),
        ]
        #expect(try await fixture.store.callerUses() == kept)
        let later = try await fixture.registry()
        try await later.resumeUses(from: fixture.store)
        #expect(later.uses(of: "billing") == registry.uses(of: "billing"))
        #expect(later.listing(of: "billing", apps: CallerFixture.apps)?.lastUsedAt == CallerFixture.start + 61)
    }

    @Test func `the number of callers that share an app's limits follows what they may and can do`() async throws {
        let registry = try await fixture.registry()
        func counts() -> [String: Int] { fixture.counts.withLock(\.self) }
        #expect(counts() == ["coins": 1])
        let administration = fixture.administration(registry)
        let by = CallerFixture.actor
        _ = try await administration.add(fixture.addition(lifetime: .seconds(60)), by: by)
        #expect(counts() == ["coins": 2])
        _ = try await administration.grant([.linksRead], for: "gems", to: "shop", by: by)
        #expect(counts() == ["coins": 2, "gems": 1])
        fixture.advance(60)
        registry.count()
        #expect(counts() == ["coins": 1], "nothing proves it any more")
        _ = try await administration.bind(.uid(7), to: "shop", by: by)
        #expect(counts() == ["coins": 2, "gems": 1])
        _ = try await administration.add(fixture.addition("idle", givesToken: false), by: by)
        #expect(counts() == ["coins": 2, "gems": 1])
        _ = try await administration.remove("shop", by: by)
        #expect(counts() == ["coins": 1])
    }

    @Test func `budgets that are in use share among those who are there now`() {
        let start = ContinuousClock.now
        let budgets = RateBudgets(
            policy: RatePolicy(limits: [.production: ["Look": RateLimit(callsPerHour: 100)]]),
            clock: BudgetClock(now: { CallerFixture.start }, monotonicNow: { start }))
        func admitted(_ caller: String) -> Int {
            let call = BudgetedCall(
                app: "coins", endpoint: "Look", environment: .production, caller: caller, priority: .interactive)
            var count = 0
            while case .admitted = budgets.admit(call) { count += 1 }
            return count
        }
        budgets.share(among: ["coins": 2])
        let alone = admitted("billing")
        #expect(alone < 100)
        budgets.share(among: ["coins": 1])
        #expect(admitted("billing") == 100 - alone, "nobody else can come any more")
    }
}

/// A store that lets something happen while it is read, or fails.
private actor InterruptedStore: CallerStore {
    private let inner: InMemoryCallerStore
    private var interruption: (@Sendable () async throws -> Void)?
    private var isFailing = false

    init(inner: InMemoryCallerStore) { self.inner = inner }

    func whenRead(_ interruption: @escaping @Sendable () async throws -> Void) { self.interruption = interruption }
    func failUses() { isFailing = true }

    func callerRecords() async throws(ServiceError) -> CallerRecords {
        let records = try await inner.callerRecords()
        do { try await interruption?() } catch { throw ServiceError(.internalError, "\(error)") }
        return records
    }

    func noteCallerUses(_ uses: [CallerUse]) async throws(ServiceError) {
        if isFailing { throw ServiceError(.storeUnavailable, "The disk is full.") }
        try await inner.noteCallerUses(uses)
    }

    func callerGeneration() async throws(ServiceError) -> Int64 { try await inner.callerGeneration() }
    func callerUses() async throws(ServiceError) -> [CallerUse] { try await inner.callerUses() }
    func addCallerKey(_ key: CallerKey) async throws(ServiceError) -> Bool { try await inner.addCallerKey(key) }
    func callerKey(id: String) async throws(ServiceError) -> CallerKey? { try await inner.callerKey(id: id) }
    func callerKeys() async throws(ServiceError) -> [CallerKey] { try await inner.callerKeys() }

    func revokeCallerKey(
        id: String, caller: String, at date: Date
    ) async throws(ServiceError) -> CallerKey? { try await inner.revokeCallerKey(id: id, caller: caller, at: date) }

    func updateCaller(
        _ name: String, _ change: @escaping @Sendable (StoredCaller?) throws(ServiceError) -> StoredCaller
    ) async throws(ServiceError) -> CallerChange { try await inner.updateCaller(name, change) }

    func removeCaller(
        _ name: String, revokingKeysAt date: Date?
    ) async throws(ServiceError) -> CallerChange? { try await inner.removeCaller(name, revokingKeysAt: date) }
}
