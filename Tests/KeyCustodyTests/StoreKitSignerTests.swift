import CoreMetrics
import Domain
import Foundation
import JOSE
import JSON
import KeyCustody
import OpenSSL
import TestSupport
import Testing

struct StoreKitSignerTests {
    private let coins = App(slug: "coins", bundleID: "com.example.coins", appAppleID: 1)
    private let clock = HandClock()
    private let fixture: KeyFixture

    init() throws { fixture = try KeyFixture() }

    private func signer(_ keys: KeyRing) -> StoreKitSigner {
        StoreKitSigner(
            keys: keys, clock: ServiceClock(now: { [clock] in clock.date }), metrics: NOOPMetricsHandler.instance)
    }

    @Test(arguments: [
        (
            StoreKitRequest.promotionalOffer(
                productID: "gold.monthly", offerIdentifier: "winback", transactionID: "42"), "promotional-offer",
            [
                "productId": "gold.monthly", "offerIdentifier": "winback", "transactionId": "42",
            ] as [String: JSONValue]
        ),
        (
            .promotionalOffer(productID: "gold.monthly", offerIdentifier: "winback", transactionID: nil),
            "promotional-offer", ["productId": "gold.monthly", "offerIdentifier": "winback"]
        ),
        (
            .introductoryOffer(productID: "gold.monthly", isAllowed: false, transactionID: "42"),
            "introductory-offer-eligibility",
            ["productId": "gold.monthly", "allowIntroductoryOffer": false, "transactionId": "42"]
        ),
        (.advancedCommerce(Array(#"{"a":1}"#.utf8)), "advanced-commerce-api", ["request": "eyJhIjoxfQ=="]),
    ])
    func `a request has Apple's header and claims, and nothing else`(
        request: StoreKitRequest, audience: String, claims: [String: JSONValue]
    ) async throws {
        let key = try fixture.key()
        let signed = try await signer(KeyRing(loading: [key.declaration])).signature(for: request, app: coins)
        let jws = try CompactJWS(signed.value)
        let header = try jws.verify(with: key.publicKey)
        #expect(header.keyID == "KEY1" && header.type == "JWT" && header.certificateChain == nil)
        let payload = try JSONValue(parsing: jws.decodePayload())
        var expected = claims
        expected["iss"] = "issuer-1"
        expected["bid"] = "com.example.coins"
        expected["aud"] = .string(audience)
        expected["iat"] = 1_700_000_000
        expected["nonce"] = .string(signed.nonce)
        #expect(try JWTClaims(parsing: jws.decodePayload()).expiresAt == nil)
        #expect(Set(payload.object?.keys.map(\.self) ?? []) == Set(expected.keys))
        for (name, value) in expected { #expect(payload[name] == value, "\(name)") }
        #expect(signed.keyID == "KEY1" && signed.issuedAt == clock.date)
        #expect(!"\(signed)".contains(signed.value) && !String(reflecting: signed).contains(signed.value))
    }

    @Test func `each signature has a nonce of its own, a UUID in lower case`() async throws {
        let signer = signer(try KeyRing(loading: [try fixture.key().declaration]))
        var nonces: Set<String> = []
        for _ in 0..<50 {
            let offer = OriginalPromotionalOffer(productID: "p", offerIdentifier: "o", applicationUsername: "")
            nonces.insert(try await signer.signature(for: offer, app: coins).nonce)
            nonces.insert(try await signer.signature(for: .advancedCommerce([]), app: coins).nonce)
        }
        #expect(nonces.count == 100)
        #expect(nonces.allSatisfy { UUID(uuidString: $0) != nil && $0 == $0.lowercased() })
    }

    @Test func `the OpenSSL program verifies both forms`() async throws {
        let key = try fixture.key()
        let signer = signer(try KeyRing(loading: [key.declaration]))
        let offer = OriginalPromotionalOffer(
            productID: "gold.monthly", offerIdentifier: "winback", applicationUsername: "ABC-1")
        clock.adjust(0.25)
        let old = try await signer.signature(for: offer, app: coins)
        #expect(old.timestamp == 1_700_000_000_250)
        let text =
            "com.example.coins\u{2063}KEY1\u{2063}gold.monthly\u{2063}winback\u{2063}abc-1\u{2063}\(old.nonce)\u{2063}1700000000250"
        #expect(try await isVerifiedByProgram(old.value, of: Array(text.utf8), key.publicKey))
        #expect(try await !isVerifiedByProgram(old.value, of: Array((text + "0").utf8), key.publicKey))

        let request = StoreKitRequest.introductoryOffer(productID: "p", isAllowed: true, transactionID: "1")
        let new = try await signer.signature(for: request, app: coins)
        #expect(new.issuedAt.timeIntervalSince1970 == 1_700_000_000, "whole seconds")
        let parts = new.value.split(separator: ".")
        let signature = try #require(Self.base64URL(parts[2]))
        #expect(
            try await isVerifiedByProgram(Self.der(signature), of: Array("\(parts[0]).\(parts[1])".utf8), key.publicKey)
        )
    }

    @Test func `the key that is active for the app signs, and without one nobody does`() async throws {
        let signer = signer(
            try KeyRing(loading: [
                try fixture.key("COINS").declaration, try fixture.key("GEMS", apps: ["gems"]).declaration,
                try fixture.key("STANDBY", state: .standby, apps: ["other"]).declaration,
            ]))
        #expect(try await signer.signature(for: .advancedCommerce([]), app: coins).keyID == "COINS")
        let other = App(slug: "other", bundleID: "com.example.other")
        await #expect(throws: ServiceError(.keyUnavailable, "")) {
            try await signer.signature(for: .advancedCommerce([]), app: other)
        }
        await #expect(throws: ServiceError(.keyUnavailable, "")) {
            let offer = OriginalPromotionalOffer(productID: "p", offerIdentifier: "o", applicationUsername: "")
            return try await signer.signature(for: offer, app: other)
        }
    }

    // MARK: An implementation that is not ours

    /// Whether `openssl dgst` takes a signature in DER for one of these bytes.
    private func isVerifiedByProgram(_ signature: [UInt8], of content: [UInt8], _ key: ECPublicKey) async throws -> Bool
    {
        func file(_ bytes: [UInt8]) throws -> String {
            let url = fixture.folder.appending(path: UUID().uuidString)
            try Data(bytes).write(to: url)
            return url.path
        }
        let run = try await ChildProcess.run([
            "openssl", "dgst", "-sha256", "-verify", try file(Array(try key.pemRepresentation().utf8)), "-signature",
            try file(signature), try file(content),
        ])
        return run.status == 0
    }

    private static func base64URL(_ text: Substring) -> [UInt8]? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: standard + padding).map(Array.init)
    }

    /// r‖s as a DER sequence of two integers.
    private static func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        let content = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(content.count)] + content
    }
}
