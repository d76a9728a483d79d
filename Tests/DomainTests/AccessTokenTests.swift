import Domain
import Foundation
import TestSupport
import Testing

/// The JWT of a caller, checked as Apple would check it.
struct AccessTokenTests {
    private let fixture = AccessFixture()

    /// One change to a right token, with whether the token is still right.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isRight: Bool
        let apply: @Sendable (inout CallerToken) -> Void

        init(_ description: String, isRight: Bool = false, _ apply: @escaping @Sendable (inout CallerToken) -> Void) {
            testDescription = description
            self.isRight = isRight
            self.apply = apply
        }

        static let all = [
            Change("nothing changed", isRight: true) { _ in },
            Change("no typ") { $0.type = nil },
            Change("another typ") { $0.type = "JWS" },
            Change("no kid") { $0.keyID = nil },
            Change("an unknown kid") { $0.keyID = "ZZZZZZZZZZ" },
            Change("a kid that is no key id") { $0.keyID = "AAAAAAAAAA\0" },
            Change("no iss") { $0.issuer = nil },
            Change("another iss") { $0.issuer = AccessFixture.issuerID.uppercased() + "0" },
            Change("no aud") { $0.audience = [] },
            Change("another aud") { $0.audience = ["appstoreconnect-v2"] },
            Change("two auds") { $0.audience = ["appstoreconnect-v1", "other"] },
            Change("no bid") { $0.bundleID = nil },
            Change("the bid of another app of ours") { $0.bundleID = "com.example.gems" },
            Change("no exp") { $0.expiresAt = nil },
            Change("an exp of now") { $0.expiresAt = AccessFixture.now },
            Change("an hour's life", isRight: true) { $0.expiresAt = AccessFixture.now + 3600 },
            Change("a second more than an hour's life") { $0.expiresAt = AccessFixture.now + 3601 },
            Change("an iat long ago") { $0.issuedAt = AccessFixture.now - 3500 },
            Change("an iat a minute ahead", isRight: true) { $0.issuedAt = AccessFixture.now + 60 },
            Change("an iat more than a minute ahead") { $0.issuedAt = AccessFixture.now + 61 },
            Change("no iat", isRight: true) { $0.issuedAt = nil },
            Change("no iat, and an exp more than an hour ahead") {
                $0.issuedAt = nil
                $0.expiresAt = AccessFixture.now + 3661
            },
            Change("an nbf of now", isRight: true) { $0.notBefore = AccessFixture.now },
            Change("an nbf in the future") { $0.notBefore = AccessFixture.now + 61 },
            Change("another key's signature") { $0.isSigned = { $0 == Array("BBBBBBBBBB".utf8) } },
        ]
    }

    @Test(arguments: Change.all)
    func `a token is taken or refused by its claims`(change: Change) async throws {
        try await fixture.keep("AAAAAAAAAA")
        var token = AccessFixture.token(signedBy: "AAAAAAAAAA")
        change.apply(&token)
        let fault = try await fixture.fault(token)
        #expect((fault == nil) == change.isRight, "\(fault ?? "taken")")
    }

    @Test func `what is no JWT of algorithm ES256 is refused`() async throws {
        #expect(try await fixture.fault(nil)?.contains("ES256") == true)
    }

    @Test func `the bearer has the scopes of its key, for the key's app alone`() async throws {
        try await fixture.keep("AAAAAAAAAA")
        let bearer = try await fixture.bearer(AccessFixture.token(signedBy: "AAAAAAAAAA"))
        #expect(bearer.caller == Caller(name: "shop", scopes: ["coins": [.transactionsRead]]))
        #expect(bearer.app?.slug == "coins")
    }

    @Test func `a caller of the configuration keeps the scopes that it has there, as they are now`() async throws {
        try await fixture.keep("AAAAAAAAAA", caller: "billing", scopes: nil)
        let token = AccessFixture.token(signedBy: "AAAAAAAAAA")
        #expect(try await fixture.bearer(token).caller == AccessFixture.billing)
        let widened = Caller(name: "billing", scopes: ["coins": [.refundsRead, .linksWrite], "gems": [.refundsRead]])
        let caller = try await fixture.bearer(token, configured: [widened]).caller
        #expect(caller == Caller(name: "billing", scopes: ["coins": [.refundsRead, .linksWrite]]))
    }

    @Test func `a revoked key is refused from the next token on`() async throws {
        try await fixture.keep("AAAAAAAAAA")
        let token = AccessFixture.token(signedBy: "AAAAAAAAAA")
        #expect(try await fixture.fault(token) == nil)
        _ = try await fixture.store.revokeCallerKey(id: "AAAAAAAAAA", caller: "shop", at: AccessFixture.now)
        #expect(try await fixture.fault(token)?.contains("revoked") == true)
    }

    @Test func `a key that stands for nobody is refused`() async throws {
        try await fixture.keep("AAAAAAAAAA", caller: "gone", scopes: nil)
        try await fixture.keep("BBBBBBBBBB", caller: "billing", scopes: [.consumptionWrite])
        for id in ["AAAAAAAAAA", "BBBBBBBBBB"] {
            #expect(try await fixture.fault(AccessFixture.token(signedBy: id))?.contains("stands for nobody") == true)
        }
        try await fixture.keep("CCCCCCCCCC", app: "lost")
        #expect(try await fixture.fault(AccessFixture.token(signedBy: "CCCCCCCCCC"))?.contains("`lost`") == true)
    }

    @Test func `an unknown key is checked as long as a known one`() async throws {
        let asked = AccessKeyRecord()
        var token = AccessFixture.token(signedBy: "AAAAAAAAAA")
        token.isSigned = { publicKey in
            asked.note(publicKey)
            return true
        }
        #expect(try await fixture.fault(token) != nil)
        let keys = asked.keys
        #expect(keys.count == 1)
        #expect(keys.first?.count == 91, "a whole SubjectPublicKeyInfo on P-256")
    }
}
