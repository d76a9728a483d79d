import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JOSE
import JSON
import OpenSSL
import Testing

struct TokenTests {
    /// Expects Apple's plain 401, and the reason on the control port.
    private func expectRefusal(
        _ fault: TokenFault, of token: String, _ fixture: SimulatorFixture,
        in environment: SimulatedEnvironment = .sandbox,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let response = try await fixture.call(.getTransactionInfo(transactionId: "1"), in: environment, token: token)
        #expect(response.status == 401, sourceLocation: sourceLocation)
        #expect(response.headers["Content-Type"]?.hasPrefix("text/plain") == true, sourceLocation: sourceLocation)
        #expect(
            String(decoding: response.body, as: UTF8.self).hasPrefix("Unauthenticated\n"),
            sourceLocation: sourceLocation)
        #expect(fixture.state.received.requests.last?.reason == fault.rawValue, sourceLocation: sourceLocation)
    }

    private func expectAcceptance(
        of token: String, _ fixture: SimulatorFixture, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let response = try await fixture.call(.getTransactionInfo(transactionId: "1"), token: token)
        #expect(response.status == 404, sourceLocation: sourceLocation)
    }

    @Test func `claims that are wrong one by one are refused`() async throws {
        try await SimulatorFixture.with { fixture in
            let now = fixture.clock.now
            let changes: [(TokenFault, (inout JWTClaims) -> Void)] = [
                (.wrongIssuer, { $0.issuer = "other" }), (.wrongIssuer, { $0.issuer = nil }),
                (.wrongAudience, { $0.audience = ["appstoreconnect-v2"] }), (.wrongAudience, { $0.audience = [] }),
                (.wrongAudience, { $0.audience = ["appstoreconnect-v1", "other"] }),
                (.missingBundleID, { $0.others["bid"] = nil }), (.missingBundleID, { $0.others["bid"] = 7 }),
                (.missingExpiry, { $0.expiresAt = nil }), (.expired, { $0.expiresAt = now }),
                (.expired, { $0.expiresAt = now - 1 }), (.issuedInFuture, { $0.issuedAt = now + 61 }),
                (.livesTooLong, { $0.expiresAt = now + 3601 }),
                (
                    .livesTooLong,
                    {
                        $0.issuedAt = now - 3000
                        $0.expiresAt = now + 601
                    }
                ),
                (
                    .livesTooLong,
                    {
                        $0.issuedAt = nil
                        $0.expiresAt = now + 3661
                    }
                ),
            ]
            for (fault, change) in changes { try await expectRefusal(fault, of: fixture.token(change), fixture) }
        }
    }

    @Test func `claims at the limits are accepted`() async throws {
        try await SimulatorFixture.with { fixture in
            let now = fixture.clock.now
            let changes: [(inout JWTClaims) -> Void] = [
                { $0.expiresAt = now + 3600 }, { $0.expiresAt = now + 1 }, { $0.issuedAt = now + 60 },
                {
                    $0.issuedAt = now - 3000
                    $0.expiresAt = now + 600
                },
                {
                    $0.issuedAt = nil
                    $0.expiresAt = now + 3600
                },
                { $0.others["nonce"] = "anything" },
            ]
            for change in changes { try await expectAcceptance(of: fixture.token(change), fixture) }
        }
    }

    @Test func `a token is good until it expires`() async throws {
        try await SimulatorFixture.with { fixture in
            let token = try fixture.token()
            fixture.clock.advance(by: 1199)
            try await expectAcceptance(of: token, fixture)
            fixture.clock.advance(by: 1)
            try await expectRefusal(.expired, of: token, fixture)
        }
    }

    @Test func `what is no token is refused`() async throws {
        try await SimulatorFixture.with { fixture in
            for token in ["", "a", "a.b.c", "eyJhbGciOiJub25lIn0.e30.AA"] {
                let expected: TokenFault = token.isEmpty ? .missing : .malformed
                try await expectRefusal(expected, of: token, fixture)
            }
            let url = fixture.simulator.baseURL(.sandbox) + "/inApps/v1/transactions/1"
            for headers in [[], [(name: "Authorization", value: "Basic \(try fixture.token())")]] {
                #expect(try await fixture.send("GET", url, headers: headers).status == 401)
                #expect(fixture.state.received.requests.last?.reason == TokenFault.missing.rawValue)
            }
        }
    }

    @Test func `the scheme's name is read in any case`() async throws {
        try await SimulatorFixture.with { fixture in
            let url = fixture.simulator.baseURL(.sandbox) + "/inApps/v1/transactions/1"
            let headers = [(name: "Authorization", value: "bearer \(try fixture.token())")]
            #expect(try await fixture.send("GET", url, headers: headers).status == 404)
        }
    }

    @Test func `keys and headers that are not the team's are refused`() async throws {
        try await SimulatorFixture.with { fixture in
            let claims = fixture.claims()
            try await expectRefusal(.unknownKey, of: JWT.sign(claims, keyID: "KEY2", with: fixture.key), fixture)
            try await expectRefusal(.unknownKey, of: JWT.sign(claims, keyID: nil, with: fixture.key), fixture)
            let other = try ECPrivateKey.generate()
            try await expectRefusal(
                .invalidSignature, of: JWT.sign(claims, keyID: SimulatorFixture.keyID, with: other), fixture)
            let header = JOSEHeader(keyID: SimulatorFixture.keyID)
            try await expectRefusal(
                .wrongType, of: CompactJWS.sign(claims.payload, header: header, with: fixture.key), fixture)
        }
    }

    @Test func `a revoked key is refused from then on`() async throws {
        try await SimulatorFixture.with { fixture in
            let token = try fixture.token()
            try await expectAcceptance(of: token, fixture)
            try fixture.state.revokeKey(SimulatorFixture.keyID)
            try await expectRefusal(.revokedKey, of: token, fixture)
        }
    }

    @Test func `an app that nobody registered is not found`() async throws {
        try await SimulatorFixture.with { fixture in
            let token = try fixture.token { $0.others["bid"] = "com.example.unknown" }
            let response = try await fixture.call(.getTransactionInfo(transactionId: "1"), token: token)
            #expect(response.status == 404)
            #expect(try ErrorPayload(parsing: response.body).errorCode == APIErrorCode.appNotFound.code)
        }
    }

    @Test func `an app of another team is refused`() async throws {
        try await SimulatorFixture.with { fixture in
            try fixture.state.register(
                RegisteredApp(bundleID: "com.example.stranger", appAppleID: 2, issuerID: "others"))
            try await expectRefusal(
                .otherTeam, of: fixture.token { $0.others["bid"] = "com.example.stranger" }, fixture)
        }
    }

    @Test func `an app that was never released is refused by production alone`() async throws {
        try await SimulatorFixture.with { fixture in
            try fixture.state.register(
                RegisteredApp(
                    bundleID: SimulatorFixture.bundleID, appAppleID: 1, issuerID: SimulatorFixture.issuerID,
                    isReleasedToProduction: false))
            let token = try fixture.token()
            try await expectRefusal(.notReleased, of: token, fixture, in: .production)
            try await expectAcceptance(of: token, fixture)
        }
    }

    @Test func `no token is ever kept`() async throws {
        try await SimulatorFixture.with { fixture in
            let token = try fixture.token()
            _ = try await fixture.call(.getTransactionInfo(transactionId: "1"), token: token)
            let shown = String(decoding: try await fixture.control("GET", "/received").body, as: UTF8.self)
            #expect(shown.contains(SimulatorFixture.keyID))
            let parts = token.split(separator: ".")
            #expect(parts.allSatisfy { !shown.contains($0) })
        }
    }
}
