import CoreMetrics
import Domain
import Foundation
import JOSE
import JSON
import KeyCustody
import Logging
import OpenSSL
import Synchronization
import TestSupport
import Testing

struct TokenMinterTests {
    private let coins = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    private let gems = App(slug: "gems", bundleID: "com.example.gems", appAppleID: 2)
    private let clock = HandClock()
    private let fixture: KeyFixture

    init() throws { fixture = try KeyFixture() }

    private func minter(_ declarations: [KeyDeclaration], now: WallClock? = nil) throws -> TokenMinter {
        minter(try KeyRing(loading: declarations), now: now)
    }

    private func minter(_ keys: KeyRing, now: WallClock? = nil) -> TokenMinter {
        TokenMinter(
            keys: keys,
            clock: ServiceClock(now: now ?? { [clock] in clock.date }, monotonicNow: { [clock] in clock.instant }),
            audit: RememberedAudit(), metrics: NOOPMetricsHandler.instance,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func `a token has Apple's header and claims, lives 20 minutes and is dated 30 seconds back`() async throws {
        let key = try fixture.key()
        let token = try minter([key.declaration]).token(for: coins)
        let jws = try CompactJWS(token.value)
        let header = try jws.verify(with: key.publicKey)
        #expect(header.keyID == "KEY1" && header.type == "JWT")
        let claims = try JWTClaims(parsing: try jws.decodePayload())
        #expect(claims.issuer == "issuer-1")
        #expect(claims.audience == ["appstoreconnect-v1"])
        #expect(claims.issuedAt == clock.date.addingTimeInterval(-30))
        #expect(claims.expiresAt == clock.date.addingTimeInterval(1200))
        #expect(claims.others == ["bid": "com.example.coins"])
        #expect(!"\(token)".contains(token.value) && !String(reflecting: token).contains(token.value))
    }

    @Test func `however many ask at once, one token is minted`() async throws {
        let dates = Mutex(0)
        let minter = try minter([try fixture.key().declaration]) { [clock] in
            dates.withLock { $0 += 1 }
            return clock.date
        }
        let generations = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<1000 { group.addTask { [coins] in try minter.token(for: coins).generation } }
            return try await group.reduce(into: Set<UInt64>()) { $0.insert($1) }
        }
        #expect(generations.count == 1)
    }

    @Test func `a token is reused for 80 % of its life and not longer`() async throws {
        let minter = try minter([try fixture.key().declaration])
        let first = try minter.token(for: coins)
        clock.advance(959)
        #expect(try minter.token(for: coins).generation == first.generation)
        clock.advance(1)
        #expect(try minter.token(for: coins).generation != first.generation)
    }

    @Test func `a clock that is set back or ahead makes a new token`() async throws {
        let minter = try minter([try fixture.key().declaration])
        var last = try minter.token(for: coins)
        for seconds in [3600.0, -7200] {
            clock.adjust(seconds)
            let next = try minter.token(for: coins)
            #expect(next.generation != last.generation)
            last = next
        }
    }

    @Test func `a token in use is refreshed ahead of need, an idle one is not`() async throws {
        let minter = try minter([try fixture.key("A", apps: ["coins", "gems"]).declaration])
        let used = try minter.token(for: coins)
        let idle = try minter.token(for: gems)
        clock.advance(850)
        minter.refresh([coins, gems])
        let refreshed = try minter.token(for: coins)
        #expect(refreshed.generation != used.generation)
        let other = try minter.token(for: gems)
        #expect(other.generation != idle.generation, "it was used since its mint")
        clock.advance(850)
        _ = try minter.token(for: coins)
        minter.refresh([coins, gems])
        clock.advance(0)
        #expect(try minter.token(for: coins).generation != refreshed.generation)
    }

    @Test func `a refused token is dropped by generation, once a minute for each key`() async throws {
        let minter = try minter([try fixture.key().declaration])
        let first = try minter.token(for: coins)
        minter.refused(first, for: coins)
        let second = try minter.token(for: coins)
        #expect(second.generation != first.generation)
        clock.advance(61)
        minter.refused(first, for: coins)
        #expect(try minter.token(for: coins).generation == second.generation, "the refused one was another")
        clock.advance(61)
        minter.refused(second, for: coins)
        let third = try minter.token(for: coins)
        #expect(third.generation != second.generation)
        minter.refused(third, for: coins)
        #expect(try minter.token(for: coins).generation == third.generation, "no storm of mints")
    }

    @Test func `each app has its own key and token, and an app without a key none`() async throws {
        let coinsKey = try fixture.key("COINS", apps: ["coins"])
        let gemsKey = try fixture.key("GEMS", apps: ["gems"])
        let standby = try fixture.key("STANDBY", state: .standby, apps: ["other"])
        let minter = try minter([coinsKey.declaration, gemsKey.declaration, standby.declaration])
        let coinsToken = try minter.token(for: coins)
        let gemsToken = try minter.token(for: gems)
        #expect(coinsToken.keyID == "COINS" && gemsToken.keyID == "GEMS")
        try CompactJWS(coinsToken.value).verify(with: coinsKey.publicKey)
        #expect(throws: JOSEError.self) { try CompactJWS(coinsToken.value).verify(with: gemsKey.publicKey) }
        #expect(throws: ServiceError(.keyUnavailable, "")) {
            try minter.token(for: App(slug: "other", bundleID: "com.example.other"))
        }
    }

    @Test func `a late refusal of an older token does not use up the minute`() async throws {
        let minter = try minter([try fixture.key().declaration])
        let first = try minter.token(for: coins)
        minter.refused(first, for: coins)
        let second = try minter.token(for: coins)
        clock.advance(61)
        minter.refused(first, for: coins)
        minter.refused(second, for: coins)
        #expect(try minter.token(for: coins).generation != second.generation)
    }

    @Test func `a token says how long it is valid, as its claims do`() async throws {
        let token = try minter([try fixture.key().declaration]).token(for: coins)
        let claims = try JWTClaims(parsing: try CompactJWS(token.value).decodePayload())
        #expect(token.issuedAt == claims.issuedAt && token.expiresAt == claims.expiresAt)
    }

    @Test func `a standby key signs to be tried, and takes over for its app alone`() async throws {
        let standby = try fixture.key("NEW", state: .standby, apps: ["coins"])
        let declarations = [
            try fixture.key("OLD", apps: ["coins", "gems"]).declaration, standby.declaration,
            try fixture.key("OTHER", state: .standby, apps: ["gems"]).declaration,
        ]
        let ring = try KeyRing(loading: declarations)
        let minter = minter(ring)
        let old = try minter.token(for: coins)
        let new = try #require(minter.standbyTokens(for: coins).first)
        #expect(minter.standbyTokens(for: coins).map(\.keyID) == ["NEW"])
        try CompactJWS(new.value).verify(with: standby.publicKey)
        #expect(try minter.token(for: coins).keyID == "OLD", "it only stands by")

        #expect(minter.activate(new, insteadOf: old, for: coins))
        #expect(try minter.token(for: coins).keyID == "NEW")
        #expect(try minter.token(for: gems).keyID == "OLD")
        #expect(ring.statuses.map(\.state) == [.active, .active, .standby], "OLD signs for gems still")
        #expect(!minter.activate(new, insteadOf: old, for: coins), "OLD is not the active key any more")
        #expect(minter.standbyTokens(for: coins).isEmpty)

        let other = try #require(minter.standbyTokens(for: gems).first)
        #expect(minter.activate(other, insteadOf: old, for: gems))
        #expect(ring.statuses.map(\.state) == [.retired, .active, .active])
    }
}
