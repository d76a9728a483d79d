import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Domain

/// Issuing, listing and revoking caller keys.
struct AccessKeyServiceTests {
    private let store = InMemoryCallerStore()
    private let audit = RememberedAudit()
    private static let actor = Domain.Actor.operator(uid: 501)

    private func service(
        configured: [Caller] = [AccessFixture.billing], makeKeyID: @escaping @Sendable () -> String = CallerKey.randomID
    ) async throws -> CallerKeyService {
        let registry = CallerRegistry(configured: configured.map { ConfiguredCaller($0) }, now: { AccessFixture.now })
        try await registry.refresh(from: store)
        return CallerKeyService(
            issuerID: AccessFixture.issuerID, store: store, registry: registry,
            apps: AccessFixture.apps, audit: audit, now: { AccessFixture.now }, makeKeyID: makeKeyID,
            decodePublicKey: { $0 == "PEM" ? [1, 2, 3] : nil },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func request(
        _ caller: String = "shop", app: String = "coins", publicKey: String = "PEM",
        scopes: Set<Scope>? = [.refundsRead]
    ) -> CallerKeyService.Request {
        CallerKeyService.Request(caller: caller, app: app, publicKey: publicKey, scopes: scopes)
    }

    @Test func `a key of a new caller carries its scopes, one of a configured caller none`() async throws {
        let shop = try await service().issue(request(), by: Self.actor)
        let billing = try await service().issue(request("billing", scopes: nil), by: Self.actor)
        #expect(shop.key.scopes == [.refundsRead])
        #expect(billing.key.scopes == nil)
        #expect(shop.state == .active)
        #expect(billing.state == .active)
        #expect(try await store.callerKeys() == [shop.key, billing.key])
        #expect(CallerKey.isID(shop.key.id))
        #expect(audit.acts.map(\.action) == [.callerCredentialIssued, .callerAdded, .callerCredentialIssued])
        let added = try #require(audit.acts(.callerAdded).first)
        #expect(added.caller == "shop" && added.details["scopes"] == "coins: refunds:read")
    }

    @Test func `an id that is taken is drawn again`() async throws {
        let ids = Mutex(["AAAAAAAAAA", "AAAAAAAAAA", "BBBBBBBBBB"])
        let service = try await service(makeKeyID: { ids.withLock { $0.removeFirst() } })
        #expect(try await service.issue(request(), by: Self.actor).key.id == "AAAAAAAAAA")
        #expect(try await service.issue(request(), by: Self.actor).key.id == "BBBBBBBBBB")
    }

    @Test func `an id that stays taken is an error, not an endless loop`() async throws {
        let service = try await service(makeKeyID: { "AAAAAAAAAA" })
        _ = try await service.issue(request(), by: Self.actor)
        await #expect(throws: ServiceError(.internalError, "")) { try await service.issue(request(), by: Self.actor) }
    }

    @Test func `every broken rule is named, and nothing is kept`() async throws {
        let cases: [(CallerKeyService.Request, Set<String>)] = [
            (request("Shop"), ["name format"]), (request(""), ["name format"]), (request("-shop"), ["name format"]),
            (request(app: "nothing"), ["app unknown"]), (request(publicKey: "no key"), ["publicKey format"]),
            (request(scopes: nil), ["scopes required"]), (request(scopes: []), ["scopes empty"]),
            (request("billing"), ["scopes configured"]), (request("billing", app: "gems", scopes: nil), ["app scopes"]),
            (
                request("é", app: "", publicKey: "", scopes: nil),
                [
                    "name format", "app unknown", "publicKey format", "scopes required",
                ]
            ),
        ]
        for (request, expected) in cases {
            #expect(try await violations(request) == expected)
        }
        #expect(try await store.callerKeys().isEmpty)
    }

    @Test func `a key allows no more than its caller may do, and follows what it may`() async throws {
        _ = try await store.updateCaller("shop") { _ in
            StoredCaller(
                name: "shop", createdAt: AccessFixture.now, grants: ["coins": [.refundsRead, .transactionsRead]])
        }
        #expect(try await violations(request(scopes: [.refundsRead, .linksRead])) == ["scopes granted"])
        #expect(try await violations(request(app: "gems", scopes: nil)) == ["app scopes"])
        let service = try await service()
        let narrow = try await service.issue(request(scopes: [.refundsRead]), by: Self.actor).key
        let wide = try await service.issue(request(scopes: nil), by: Self.actor).key
        let index = try await self.service().registry.read { $0 }
        #expect(index.bearer(of: narrow)?.scopes == ["coins": [.refundsRead]])
        #expect(index.bearer(of: wide)?.scopes == ["coins": [.refundsRead, .transactionsRead]])
        let change = try await store.updateCaller("shop") { _ in
            StoredCaller(name: "shop", createdAt: AccessFixture.now, grants: ["coins": [.transactionsRead]])
        }
        service.registry.apply(change)
        #expect(service.registry.read { $0.bearer(of: narrow)?.scopes } == ["coins": []])
        #expect(service.registry.read { $0.bearer(of: wide)?.scopes } == ["coins": [.transactionsRead]])
    }

    @Test func `a key that cannot be recorded is not issued, one that cannot be recorded is revoked all the same`()
        async throws
    {
        let service = try await service()
        let key = try await service.issue(request(), by: Self.actor).key
        audit.fail()
        await #expect(throws: ServiceError(.auditUnavailable, "")) {
            try await service.issue(request(), by: Self.actor)
        }
        #expect(try await store.callerKeys().map(\.id) == [key.id])
        #expect(try await service.revoke(key.id, of: "shop", by: Self.actor).state == .revoked)
        audit.fail(false)
        #expect(audit.acts(.callerCredentialIssued).map(\.actor) == [Self.actor])
        #expect(audit.acts(.callerCredentialIssued).first?.details["credential"] == "key:\(key.id)")
    }

    private func violations(_ request: CallerKeyService.Request) async throws -> Set<String> {
        let service = try await service()
        do throws(ServiceError) {
            _ = try await service.issue(request, by: Self.actor)
            return []
        } catch {
            return Set(error.violations.map { "\($0.field) \($0.rule)" })
        }
    }

    @Test func `revoking twice is revoking once, and nobody revokes another's key`() async throws {
        let key = try await service().issue(request(), by: Self.actor).key
        let revoked = try await service().revoke(key.id, of: "shop", by: Self.actor)
        #expect(revoked.key == key.revoked(at: AccessFixture.now))
        #expect(try await service().revoke(key.id, of: "shop", by: Self.actor).key == revoked.key)
        for (id, caller) in [(key.id, "billing"), ("ZZZZZZZZZZ", "shop"), ("", "shop"), (key.id + "\0", "shop")] {
            await #expect(throws: ServiceError(.callerCredentialNotFound, "")) {
                try await service().revoke(id, of: caller, by: Self.actor)
            }
        }
    }

    @Test func `ids are drawn from capital letters and digits`() {
        let ids = (0..<200).map { _ in CallerKey.randomID() }
        #expect(ids.allSatisfy(CallerKey.isID))
        #expect(Set(ids).count == ids.count)
        for text in ["", "ABCDEFGHI", "ABCDEFGHIJK", "abcdefghij", "ABCDEFGHI ", "ABCDEFGHÄ"] {
            #expect(!CallerKey.isID(text))
        }
    }
}
