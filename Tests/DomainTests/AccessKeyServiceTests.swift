import Domain
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

/// Issuing, listing and revoking caller keys.
struct AccessKeyServiceTests {
    private let store = InMemoryCallerKeyStore()

    private func service(
        configured: [Caller] = [AccessFixture.billing], makeKeyID: @escaping @Sendable () -> String = CallerKey.randomID
    ) -> CallerKeyService {
        CallerKeyService(
            issuerID: AccessFixture.issuerID, store: store, register: CallerRegister(configured: configured),
            apps: AccessFixture.apps, now: { AccessFixture.now }, makeKeyID: makeKeyID,
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
        let shop = try await service().issue(request())
        let billing = try await service().issue(request("billing", scopes: nil))
        #expect(shop.key.scopes == [.refundsRead])
        #expect(billing.key.scopes == nil)
        #expect(shop.state == .active)
        #expect(billing.state == .active)
        #expect(try await store.callerKeys() == [shop.key, billing.key])
        #expect(CallerKey.isID(shop.key.id))
    }

    @Test func `an id that is taken is drawn again`() async throws {
        let ids = Mutex(["AAAAAAAAAA", "AAAAAAAAAA", "BBBBBBBBBB"])
        let service = service(makeKeyID: { ids.withLock { $0.removeFirst() } })
        #expect(try await service.issue(request()).key.id == "AAAAAAAAAA")
        #expect(try await service.issue(request()).key.id == "BBBBBBBBBB")
    }

    @Test func `an id that stays taken is an error, not an endless loop`() async throws {
        let service = service(makeKeyID: { "AAAAAAAAAA" })
        _ = try await service.issue(request())
        await #expect(throws: ServiceError(.internalError, "")) { try await service.issue(request()) }
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
            do throws(ServiceError) {
                _ = try await service().issue(request)
                Issue.record("\(expected) was not refused")
            } catch {
                #expect(error.reason == .invalidRequest)
                #expect(Set(error.violations.map { "\($0.field) \($0.rule)" }) == expected)
            }
        }
        #expect(try await store.callerKeys().isEmpty)
    }

    @Test func `the list has every caller with its keys and their states`() async throws {
        let shop = try await service().issue(request())
        let billing = try await service().issue(request("billing", scopes: nil))
        _ = try await service().revoke(shop.key.id, of: "shop")
        let now = try await service(configured: [AccessFixture.billing, Caller(name: "idle", scopes: [:])]).callers()
        #expect(now.map(\.name) == ["billing", "idle", "shop"])
        #expect(now.map(\.isConfigured) == [true, true, false])
        #expect(now.map { $0.keys.map(\.state) } == [[.active], [], [.revoked]])
        #expect(now.first?.scopes == AccessFixture.billing.scopes)
        let later = try await service(configured: []).callers()
        #expect(later.map(\.name) == ["billing", "shop"])
        #expect(later.first?.keys.map(\.state) == [.orphaned])
        #expect(later.first?.keys.map(\.key.id) == [billing.key.id])
    }

    @Test func `revoking twice is revoking once, and nobody revokes another's key`() async throws {
        let key = try await service().issue(request()).key
        let revoked = try await service().revoke(key.id, of: "shop")
        #expect(revoked.key == key.revoked(at: AccessFixture.now))
        #expect(try await service().revoke(key.id, of: "shop").key == revoked.key)
        for (id, caller) in [(key.id, "billing"), ("ZZZZZZZZZZ", "shop"), ("", "shop"), (key.id + "\0", "shop")] {
            await #expect(throws: ServiceError(.callerKeyNotFound, "")) { try await service().revoke(id, of: caller) }
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
