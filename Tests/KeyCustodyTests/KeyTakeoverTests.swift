import CoreMetrics
import Domain
import Foundation
import KeyCustody
import Logging
import Synchronization
import TestSupport
import Testing

struct KeyTakeoverTests {
    private let coins = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    private let gems = App(slug: "gems", bundleID: "com.example.gems", appAppleID: 2)
    private let clock = HandClock()
    private let fixture: KeyFixture
    private let store = Store()

    init() throws { fixture = try KeyFixture() }

    /// Keeps take-overs, unless it is told to fail.
    private actor Store: KeyTakeoverStore {
        private(set) var kept: [KeyTakeover] = []
        private(set) var writes = 0
        private var fails = false

        func fail(_ fails: Bool) { self.fails = fails }

        func keyTakeovers() async throws(ServiceError) -> [KeyTakeover] { kept }

        func replaceKeyTakeovers(_ takeovers: [KeyTakeover]) async throws(ServiceError) {
            if fails { throw ServiceError(.storeUnavailable, "No.") }
            writes += 1
            kept = takeovers
        }
    }

    /// One run of a daemon, from its start on.
    private struct Run {
        let ring: KeyRing
        let minter: TokenMinter
        let checkpoint: KeyTakeoverCheckpoint

        func active(_ app: App) async throws -> String { try await minter.token(for: app).keyID }

        /// Lets Apple refuse the active key of an app and take the first on standby.
        func refuse(_ app: App) async throws -> String? {
            guard let standby = await minter.standbyTokens(for: app).first else { return nil }
            let refused = try await minter.token(for: app)
            return await minter.activate(standby, insteadOf: refused, for: app) ? standby.keyID : nil
        }
    }

    private func start(_ declarations: [KeyDeclaration]) async throws -> Run {
        let ring = try KeyRing(loading: declarations)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let checkpoint = KeyTakeoverCheckpoint(
            keys: ring, store: store, metrics: NOOPMetricsHandler.instance, logger: logger)
        try await checkpoint.resume()
        let minter = TokenMinter(
            keys: ring, clock: ServiceClock(now: { [clock] in clock.date }, monotonicNow: { [clock] in clock.instant }),
            audit: RememberedAudit(), metrics: NOOPMetricsHandler.instance, logger: logger)
        return Run(ring: ring, minter: minter, checkpoint: checkpoint)
    }

    private func key(_ id: String, _ state: KeyStatus.State, _ apps: [String] = ["coins"]) throws -> KeyDeclaration {
        try fixture.key(id, state: state, apps: apps).declaration
    }

    @Test func `a standby key that has taken over signs after a restart, and the refused one is none to take over`()
        async throws
    {
        let keys = [try key("OLD", .active, ["coins", "gems"]), try key("NEW", .standby)]
        let first = try await start(keys)
        #expect(try await first.refuse(coins) == "NEW")
        await first.checkpoint.save()
        let second = try await start(keys)
        #expect(try await second.active(coins) == "NEW")
        #expect(try await second.active(gems) == "OLD")
        #expect(await second.minter.standbyTokens(for: coins).isEmpty)
        #expect(
            second.ring.takeovers == [
                KeyTakeover(app: "coins", refusedKeyID: "OLD", keyID: "NEW", at: clock.date)
            ])
    }

    @Test(arguments: [60.0, -3600])
    func `one take-over after the other is taken up, whatever the clock did between them`(seconds: TimeInterval)
        async throws
    {
        let keys = [try key("A", .active), try key("B", .standby), try key("C", .standby)]
        let first = try await start(keys)
        #expect(try await first.refuse(coins) == "B")
        await first.checkpoint.save()
        clock.adjust(seconds)
        let second = try await start(keys)
        #expect(try await second.refuse(coins) == "C")
        await second.checkpoint.save()
        let third = try await start(keys)
        #expect(try await third.active(coins) == "C")
        #expect(third.ring.statuses.map(\.state).sorted { $0.rawValue < $1.rawValue } == [.active, .retired, .retired])
        #expect(try await third.refuse(coins) == nil, "nobody stands by")
    }

    @Test func `the configuration has the last word, and what it has overtaken is forgotten`() async throws {
        let run = try await start([try key("OLD", .active), try key("NEW", .standby)])
        _ = try await run.refuse(coins)
        await run.checkpoint.save()
        for (old, new, expected) in [
            (KeyStatus.State.standby, KeyStatus.State.active, "NEW"), (.active, .retired, "OLD"),
            (.active, .revoked, "OLD"),
        ] {
            let next = try await start([try key("OLD", old), try key("NEW", new)])
            #expect(try await next.active(coins) == expected)
            #expect(next.ring.takeovers.isEmpty)
        }
        let elsewhere = try await start([try key("OLD", .active), try key("NEW", .standby, ["gems"])])
        #expect(try await elsewhere.active(coins) == "OLD", "it stands by for another app now")
        #expect(await store.kept.count == 1, "not before the next time that is kept")
        await elsewhere.checkpoint.save()
        #expect(await store.kept.isEmpty)
    }

    @Test func `only what has changed is written, and what could not be written is written later`() async throws {
        let run = try await start([try key("OLD", .active), try key("NEW", .standby)])
        await run.checkpoint.save()
        #expect(await store.writes == 0)
        _ = try await run.refuse(coins)
        await store.fail(true)
        await run.checkpoint.save()
        await run.checkpoint.save()
        #expect(await store.kept.isEmpty)
        await store.fail(false)
        await run.checkpoint.save()
        await run.checkpoint.save()
        #expect(await store.writes == 1)
        #expect(await store.kept.map(\.keyID) == ["NEW"])
    }
}
