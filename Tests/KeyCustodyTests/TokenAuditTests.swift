import CoreMetrics
import Domain
import Foundation
import JOSE
import JSON
import KeyCustody
import Logging
import OpenSSL
import TestSupport
import Testing

/// What the audit is told of tokens, and what is signed without it: nothing.
struct TokenAuditTests {
    private let coins = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    private let audit = RememberedAudit()
    private let clock = HandClock()
    private let fixture: KeyFixture

    init() throws { fixture = try KeyFixture() }

    private func minter(_ declaration: KeyDeclaration) throws -> TokenMinter {
        TokenMinter(
            keys: try KeyRing(loading: [declaration]),
            clock: ServiceClock(now: { [clock] in clock.date }, monotonicNow: { [clock] in clock.instant }),
            audit: audit, metrics: NOOPMetricsHandler.instance,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func digest(_ token: BearerToken) throws -> [UInt8] { try SHA256Digest.digest(Array(token.value.utf8)) }

    @Test func `each mint has a record with the token's digest, and its uses are told once in a while`() async throws {
        let minter = try minter(try fixture.key().declaration)
        let first = try minter.token(for: coins)
        for _ in 0..<4 { _ = try minter.token(for: coins) }
        #expect(audit.acts.map(\.action) == [.tokenMinted], "the cache keeps off the audit")
        #expect(audit.acts.first?.actor == .daemon && audit.acts.first?.keyID == "KEY1")
        #expect(audit.acts.first?.tokenDigest == (try digest(first)) && audit.acts.first?.app == "coins")
        minter.tellUses([coins])
        minter.tellUses([coins])
        #expect(audit.acts(.tokenUsed).map { $0.details["uses"] } == ["5"])
        _ = try minter.token(for: coins)
        clock.advance(960)
        let second = try minter.token(for: coins)
        minter.tellUses([coins])
        let uses = audit.acts(.tokenUsed)
        #expect(uses.map { $0.details["uses"] } == ["5", "1", "1"])
        #expect(uses.map(\.tokenDigest) == (try [first, first, second].map(digest)))
        #expect(audit.acts(.tokenMinted).map(\.tokenDigest) == (try [first, second].map(digest)))
    }

    @Test func `no use is lost with a token that Apple refuses or that is replaced, nor while the audit has no room`()
        async throws
    {
        let minter = try minter(try fixture.key().declaration)
        var tokens: [BearerToken] = []
        for _ in 0..<3 { tokens.append(try minter.token(for: coins)) }
        minter.refused(tokens[0], for: coins)
        #expect(audit.acts(.tokenUsed).map { $0.details["uses"] } == ["3"])
        for _ in 0..<2 { tokens.append(try minter.token(for: coins)) }
        audit.fail()
        minter.tellUses([coins])
        tokens.append(try minter.token(for: coins))
        clock.advance(60)
        minter.refused(tokens[5], for: coins)
        minter.tellUses([coins])
        audit.fail(false)
        minter.tellUses([coins])
        minter.tellUses([coins])
        let uses = audit.acts(.tokenUsed)
        #expect(uses.map { $0.details["uses"] } == ["3", "3"])
        #expect(uses.map(\.tokenDigest) == (try [tokens[0], tokens[5]].map(digest)))
    }

    @Test func `without room for a record no token is minted, and the one at hand goes on`() async throws {
        let minter = try minter(try fixture.key().declaration)
        let token = try minter.token(for: coins)
        audit.fail()
        #expect(try minter.token(for: coins).generation == token.generation)
        clock.advance(960)
        #expect(throws: ServiceError(.auditUnavailable, "")) { try minter.token(for: coins) }
        audit.fail(false)
        #expect(try minter.token(for: coins).generation != token.generation)
    }

    @Test func `a token for a caller is one of its own, lives ten minutes, and has Apple's claims`() async throws {
        let key = try fixture.key()
        let minter = try minter(key.declaration)
        let own = try minter.token(for: coins)
        let issued = try await minter.issueToken(for: coins)
        let another = try await minter.issueToken(for: coins)
        #expect(Set([own, issued, another].map(\.value)).count == 3)
        #expect(try minter.token(for: coins).generation == own.generation, "ours stays ours")
        #expect(audit.acts.map(\.action) == [.tokenMinted], "whoever hands it out records it")
        let jws = try CompactJWS(issued.value)
        let header = try jws.verify(with: key.publicKey)
        #expect(header.keyID == "KEY1" && header.type == "JWT")
        let claims = try JWTClaims(parsing: try jws.decodePayload())
        #expect(claims.issuer == "issuer-1" && claims.audience == ["appstoreconnect-v1"])
        #expect(claims.issuedAt == clock.date.addingTimeInterval(-30))
        #expect(claims.expiresAt == clock.date.addingTimeInterval(600) && claims.expiresAt == issued.expiresAt)
        #expect(claims.others == ["bid": "com.example.coins"])
    }
}
