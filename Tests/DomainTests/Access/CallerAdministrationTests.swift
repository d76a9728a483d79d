import Foundation
import TestSupport
import Testing

@testable import Domain

/// Adding, changing and removing callers while the daemon serves.
struct CallerAdministrationTests {
    private let fixture = CallerFixture()
    private static let by = CallerFixture.actor

    private func reason(_ act: () async throws -> some Any) async -> ServiceError.Reason? {
        do {
            _ = try await act()
            return nil
        } catch {
            return (error as? ServiceError)?.reason
        }
    }

    @Test func `a token is good from the answer on, beside the next one for a day, and not after`() async throws {
        let registry = try await fixture.registry()
        let administration = fixture.administration(registry)
        let resolver = fixture.resolver(registry)
        let first = try #require(try await administration.add(fixture.addition(), by: Self.by).token)
        #expect(resolver.found("Bearer \(first.text)").credential == "token:\(first.id)")
        fixture.advance(10)
        let second = try #require(try await administration.rotate("shop", CallerRotation(), by: Self.by).token)
        #expect(second.text != first.text)
        for text in [first.text, second.text] { #expect(resolver.found("Bearer \(text)").name == "shop") }
        #expect(
            await reason { try await administration.rotate("shop", CallerRotation(), by: Self.by) } == .callerConflict)
        fixture.advance(24 * 3600 - 0.001)
        #expect(resolver.found("Bearer \(first.text)").name == "shop")
        fixture.advance(0.001)
        #expect(resolver.found("Bearer \(first.text)").name == nil)
        #expect(resolver.found("Bearer \(second.text)").name == "shop")
        let third = try #require(
            try await administration.rotate("shop", CallerRotation(grace: .zero, lifetime: .seconds(60)), by: Self.by)
                .token)
        #expect(third.expiresAt == CallerFixture.start + 24 * 3600 + 10 + 60)
        #expect(resolver.found("Bearer \(second.text)").name == nil, "a grace of nothing ends it at once")
        #expect(try administration.caller("shop").tokens.map(\.state) == [.expired, .expired, .active])
    }

    @Test func `what is revoked or unbound is refused from the next request on`() async throws {
        let registry = try await fixture.registry()
        let administration = fixture.administration(registry)
        let resolver = fixture.resolver(registry)
        let issued = try await administration.add(fixture.addition(bindings: [.uid(2000)]), by: Self.by)
        let token = try #require(issued.token)
        let found = try resolver.resolve(PresentedCredentials(authorization: "Bearer \(token.text)"))
        #expect(resolver.stillStands(found))
        for _ in 0..<2 { _ = try await administration.revoke(token: token.id, of: "shop", by: Self.by) }
        #expect(resolver.found("Bearer \(token.text)").name == nil && !resolver.stillStands(found))
        let peer = PeerIdentity.process(uid: 2000, gid: 0)
        #expect(resolver.found(nil, peer: peer).name == "shop")
        _ = try await administration.unbind(.uid(2000), from: "shop", by: Self.by)
        #expect(resolver.found(nil, peer: peer).name == nil)
        _ = try await administration.bind(.uid(2000), to: "shop", by: Self.by)
        #expect(resolver.found(nil, peer: peer).name == "shop")
        _ = try await administration.remove("shop", by: Self.by)
        #expect(resolver.found(nil, peer: peer).name == nil)
        #expect(await reason { try administration.caller("shop") } == .callerNotFound)
    }

    @Test func `scopes come and go at once`() async throws {
        let registry = try await fixture.registry()
        let administration = fixture.administration(registry)
        let token = try #require(try await administration.add(fixture.addition(), by: Self.by).token)
        func scopes() throws -> [String: Set<Scope>] {
            try fixture.resolver(registry).resolve(PresentedCredentials(authorization: "Bearer \(token.text)")).caller
                .scopes
        }
        _ = try await administration.grant([.linksRead, .linksWrite], for: "gems", to: "shop", by: Self.by)
        #expect(try scopes() == ["coins": [.refundsRead], "gems": [.linksRead, .linksWrite]])
        _ = try await administration.ungrant([.linksRead, .refundsRead], for: "gems", from: "shop", by: Self.by)
        _ = try await administration.ungrant([.refundsRead], for: "coins", from: "shop", by: Self.by)
        #expect(try scopes() == ["gems": [.linksWrite]])
    }

    @Test func `every broken rule is named, and nothing is kept`() async throws {
        let administration = fixture.administration(try await fixture.registry())
        let addition = fixture.addition(
            "Shop!", scopes: ["nothing": [.refundsRead], "coins": [.linksRead]],
            bindings: [.uid(1000), .certificate(uri: "spiffe://example.org/billing"), .gid(5)])
        do throws(ServiceError) {
            _ = try await administration.add(addition, by: Self.by)
            Issue.record("not refused")
        } catch {
            let broken = Set(error.violations.map { "\($0.field) \($0.rule)" })
            #expect(broken == ["name format", "scopes.nothing unknown", "uids taken", "certificates taken"])
        }
        #expect(try await fixture.store.callerRecords().callers.isEmpty)
        #expect(fixture.audit.acts.isEmpty)
    }

    @Test func `names and bindings are unique across configuration and store, and the configuration is read-only`()
        async throws
    {
        let administration = fixture.administration(try await fixture.registry())
        _ = try await administration.add(fixture.addition(bindings: [.uid(7)]), by: Self.by)
        for name in ["billing", "shop"] {
            #expect(
                await reason { try await administration.add(fixture.addition(name), by: Self.by) } == .callerConflict)
        }
        let other = try await administration.add(fixture.addition("other"), by: Self.by)
        #expect(other.caller.source == .store)
        #expect(await reason { try await administration.bind(.uid(1000), to: "other", by: Self.by) } == .callerConflict)
        #expect(await reason { try await administration.bind(.uid(7), to: "other", by: Self.by) } == .callerConflict)
        for act in [
            { try await administration.grant([.linksRead], for: "coins", to: "billing", by: Self.by) },
            { try await administration.ungrant([.refundsRead], for: "coins", from: "billing", by: Self.by) },
            { try await administration.rotate("billing", CallerRotation(), by: Self.by).caller },
            { try await administration.revoke(token: "Ab12Cd34", of: "billing", by: Self.by) },
            { try await administration.unbind(.uid(1000), from: "billing", by: Self.by) },
            { try await administration.remove("billing", by: Self.by) },
        ] as [() async throws -> CallerListing] {
            #expect(await reason(act) == .callerConflict)
        }
        #expect(await reason { try await administration.remove("nobody", by: Self.by) } == .callerNotFound)
        let unknown = await reason { try await administration.revoke(token: "Ab12Cd34", of: "shop", by: Self.by) }
        #expect(unknown == .callerCredentialNotFound)
    }

    @Test func `a name that the configuration takes later stands for nobody, and can be removed`() async throws {
        let token = try #require(
            try await fixture.administration(try await fixture.registry()).add(
                fixture.addition(bindings: [.uid(7)]), by: Self.by
            ).token)
        let configured = ConfiguredCaller(Caller(name: "shop", scopes: [:]), bindings: [.gid(9)])
        let registry = try await fixture.registry([CallerFixture.billing, configured])
        let resolver = fixture.resolver(registry)
        #expect(resolver.found("Bearer \(token.text)").name == nil)
        #expect(resolver.found(nil, peer: .process(uid: 7, gid: 0)).name == nil)
        #expect(resolver.found(nil, peer: .process(uid: 1, gid: 9)).name == "shop")
        let administration = fixture.administration(registry)
        registry.noteUse(of: .binding(.gid(9)), by: "shop", at: CallerFixture.start)
        #expect(administration.callers().filter { $0.name == "shop" }.map(\.isShadowed) == [false, true])
        _ = try await administration.remove("shop", by: Self.by)
        #expect(administration.callers().filter { $0.name == "shop" }.map(\.source) == [.configuration])
        #expect(
            try administration.caller("shop").lastUsedAt == CallerFixture.start, "the uses are the configured one's")
        #expect(resolver.found(nil, peer: .process(uid: 1, gid: 9)).name == "shop")
    }

    @Test func `what gives power is recorded first or does not happen, what takes it away happens`() async throws {
        let registry = try await fixture.registry()
        let administration = fixture.administration(registry)
        let token = try #require(try await administration.add(fixture.addition(), by: Self.by).token)
        #expect(fixture.audit.acts.map(\.action) == [.callerAdded])
        #expect(fixture.audit.acts.first?.actor == Self.by && fixture.audit.acts.first?.caller == "shop")
        let said = fixture.audit.acts.flatMap { Array($0.details.values) }.joined()
        #expect(said.contains("token:\(token.id)") && !said.contains(token.text))
        fixture.audit.fail()
        for act in [
            { try await administration.add(fixture.addition("other"), by: Self.by).caller },
            { try await administration.grant([.linksRead], for: "coins", to: "shop", by: Self.by) },
            { try await administration.rotate("shop", CallerRotation(), by: Self.by).caller },
            { try await administration.bind(.uid(7), to: "shop", by: Self.by) },
        ] as [() async throws -> CallerListing] {
            #expect(await reason(act) == .auditUnavailable)
        }
        #expect(try await fixture.store.callerRecords().callers.map(\.name) == ["shop"])
        #expect(try administration.caller("shop").tokens.count == 1)
        _ = try await administration.ungrant([.refundsRead], for: "coins", from: "shop", by: Self.by)
        _ = try await administration.revoke(token: token.id, of: "shop", by: Self.by)
        _ = try await administration.remove("shop", by: Self.by)
        #expect(try await fixture.store.callerRecords().callers.isEmpty)
    }

    @Test func `callers that need a look are told of`() async throws {
        let registry = try await fixture.registry()
        let administration = fixture.administration(registry)
        for (name, lifetime) in [("lasting", nil), ("ending", Duration.seconds(3600)), ("renewed", .seconds(3600))] {
            _ = try await administration.add(fixture.addition(name, lifetime: lifetime), by: Self.by)
        }
        _ = try await administration.rotate("renewed", CallerRotation(), by: Self.by)
        let report = CallerReport(
            registry: registry, apps: CallerFixture.apps, policy: { CallerPolicy() }, now: registry.time)
        #expect(report.look().expiring == ["ending"] && report.look().unused.isEmpty)
        #expect(report.look().counts == [.configuration: 1, .store: 3, .none: 0])
        fixture.advance(89 * 86_400)
        let id = try #require(try administration.caller("lasting").tokens.first?.id)
        registry.noteUse(of: .token(id: id), by: "lasting", at: registry.time())
        fixture.advance(2 * 86_400)
        #expect(report.look().unused == ["ending", "renewed"] && report.look().expiring.isEmpty)
    }
}
