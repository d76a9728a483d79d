import Foundation
import JOSE
import OpenSSL
import Testing

@Suite struct CompactJWSTests {
    /// Source: RFC 7515, appendix A.3.
    private static let published =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    private func publishedKey() throws -> ECPublicKey {
        let x = try #require(Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
        let y = try #require(Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        return try ECPublicKey(rawRepresentation: x + y)
    }

    /// What splitting, parsing and verifying the token ends in; nil if it is accepted.
    private func refusal(_ token: String, _ key: ECPublicKey, maximumCount: Int = 10_000) -> JOSEError? {
        do throws(JOSEError) {
            let jws = try CompactJWS(token, maximumCount: maximumCount)
            try jws.verify(with: key)
            _ = try jws.decodePayload()
            return nil
        } catch {
            return error
        }
    }

    /// A token whose header is the given text and whose signature is right all the same.
    private func token(header: String, with key: ECPrivateKey) throws -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array("payload".utf8))
        return try input + "." + Base64URL.encode(key.signature(for: Array(input.utf8)))
    }

    @Test func thePublishedTokenIsAccepted() throws {
        let jws = try CompactJWS(Self.published)
        #expect(try jws.verify(with: publishedKey()).keyID == nil)
        let payload = try jws.decodePayload()
        #expect(
            String(decoding: payload, as: UTF8.self)
                == "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}")
        #expect(try JWTClaims(parsing: payload).issuer == "joe")
    }

    @Test func anyChangeOfThePublishedTokenIsRefused() throws {
        let key = try publishedKey()
        let bytes = Array(Self.published.utf8)
        for position in bytes.indices {
            var bent = bytes
            bent[position] = bent[position] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(refusal(String(decoding: bent, as: UTF8.self), key) != nil, "byte \(position)")
        }
    }

    @Test func anotherKeyIsRefused() throws {
        #expect(try refusal(Self.published, ECPrivateKey.generate().publicKey) == .invalidSignature)
    }

    @Test func aSignedTokenIsAcceptedWithItsWholeHeader() throws {
        let key = try ECPrivateKey.generate()
        let chain: [[UInt8]] = [[1], [2, 3], [UInt8](repeating: 4, count: 1000)]
        let header = JOSEHeader(keyID: "ABC\"123", type: "JWT", certificateChain: chain)
        let token = try CompactJWS.sign(Array("{}".utf8), header: header, with: key)
        let jws = try CompactJWS(token)
        let parsed = try jws.verify(with: key.publicKey)
        #expect(parsed == header)
        #expect(parsed.certificateChain == chain)
        #expect(parsed.rawSegment == Array(jws.protectedHeader))
        #expect(try jws.decodePayload() == Array("{}".utf8))
    }

    @Test func aHeaderFromACacheServesEveryTokenWithTheSameSegmentOnly() throws {
        let key = try ECPrivateKey.generate()
        let header = JOSEHeader(keyID: "a")
        let first = try CompactJWS(CompactJWS.sign([1], header: header, with: key))
        let second = try CompactJWS(CompactJWS.sign([2], header: header, with: key))
        let cached = try first.parseHeader()
        try second.verify(with: key.publicKey, header: cached)
        let other = try CompactJWS(CompactJWS.sign([1], header: JOSEHeader(keyID: "b"), with: key))
        #expect(throws: JOSEError.headerMismatch) { try other.verify(with: key.publicKey, header: cached) }
    }

    @Test func aKnownSignerServesEveryTokenWithTheSameHeaderOnly() throws {
        let key = try ECPrivateKey.generate()
        let header = JOSEHeader(keyID: "a", certificateChain: [[UInt8](repeating: 7, count: 500)])
        let signer = try KnownSigner(header: header, key: key.publicKey)
        for isPrecomputed in [false, true] {
            if isPrecomputed { try key.publicKey.precomputeMultiples() }
            for payload: [UInt8] in [[1], [UInt8](repeating: 2, count: 200)] {
                let token = try CompactJWS.sign(payload, header: header, with: key)
                try CompactJWS(token).verify(with: signer)
                // Of the last digit, the lower bits do not count.
                for position in stride(from: header.rawSegment.count + 1, to: token.utf8.count - 1, by: 1) {
                    var bent = Array(token.utf8)
                    guard bent[position] != UInt8(ascii: ".") else { continue }
                    bent[position] = bent[position] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                    #expect(throws: JOSEError.invalidSignature) { try CompactJWS(bent).verify(with: signer) }
                }
            }
            let other = try CompactJWS.sign([1], header: JOSEHeader(keyID: "b"), with: key)
            #expect(throws: JOSEError.headerMismatch) { try CompactJWS(other).verify(with: signer) }
            let foreign = try CompactJWS.sign([1], header: header, with: .generate())
            #expect(throws: JOSEError.invalidSignature) { try CompactJWS(foreign).verify(with: signer) }
        }
    }

    @Test(arguments: [
        "", ".", "..", "...", "a", "a.b", "a.b.", ".b.c", "a..c", "a.b.c.d", "a.b.c.", ".a.b.c", "a...", "a.b..c",
        "..c",
    ])
    func anythingButThreePartsIsMalformed(_ token: String) throws {
        #expect(try refusal(token, publishedKey()) == .malformed)
    }

    @Test func aTokenBeyondTheLimitIsRefused() throws {
        let key = try publishedKey()
        #expect(refusal(Self.published, key, maximumCount: Self.published.utf8.count) == nil)
        let limit = Self.published.utf8.count - 1
        #expect(refusal(Self.published, key, maximumCount: limit) == .tooLarge(maximumCount: limit))
    }

    @Test func partsThatAreNotStrictBase64URLAreRefused() throws {
        let key = try publishedKey()
        let parts = Self.published.split(separator: ".").map(String.init)
        for suffix in ["=", "==", "\n", " ", "+", "/", "!"] {
            for part in parts.indices {
                var bent = parts
                bent[part] += suffix
                // A longer payload is first of all another message.
                let expected: JOSEError = part == 1 ? .invalidSignature : .invalidBase64URL
                #expect(
                    refusal(bent.joined(separator: "."), key) == expected,
                    "part \(part) with \(suffix.debugDescription)")
            }
        }
        #expect(refusal(" " + Self.published, key) == .invalidBase64URL)
        // The last digit of the signature carries four bits that must be zero.
        #expect(refusal(Self.published.dropLast() + "R", key) == .invalidBase64URL)
    }

    @Test func aPayloadThatIsNotBase64URLIsRefusedEvenWhenSigned() throws {
        let key = try ECPrivateKey.generate()
        let input = "eyJhbGciOiJFUzI1NiJ9.cGF5bG9hZA=="
        let token = try input + "." + Base64URL.encode(key.signature(for: Array(input.utf8)))
        #expect(refusal(token, key.publicKey) == .invalidBase64URL)
    }

    @Test(arguments: [
        #"{"alg":"none"}"#, #"{"alg":"es256"}"#, #"{"alg":"HS256"}"#, #"{"alg":"ES384"}"#, #"{"alg":"RS256"}"#,
        #"{"alg":""}"#, #"{"alg":null}"#, #"{"alg":["ES256"]}"#, #"{"alg":256}"#, "{}", #"{"typ":"JWT"}"#,
        #"{"ALG":"ES256"}"#,
    ])
    func everyOtherAlgorithmIsRefusedThoughTheSignatureIsRight(_ header: String) throws {
        let key = try ECPrivateKey.generate()
        #expect(try refusal(token(header: header, with: key), key.publicKey) == .unsupportedAlgorithm)
    }

    @Test func theAlgorithmNoneWithoutSignatureIsMalformed() throws {
        let header = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
        #expect(try refusal("\(header).cGF5bG9hZA.", publishedKey()) == .malformed)
    }

    @Test(arguments: [
        #"{"alg":"ES256","alg":"ES256"}"#, #"{"alg":"none","alg":"ES256"}"#, #"{"alg":"ES256","a":1,"\u0061":2}"#,
        #"{"alg":"ES256""#, #"{"alg":"ES256"} {}"#, #"["ES256"]"#, #""ES256""#, #"{"alg":"ES256",}"#, "",
        #"{"alg":"ES256","kid":1}"#, #"{"alg":"ES256","typ":{}}"#,
    ])
    func headersThatAreNotStrictJSONAreRefused(_ header: String) throws {
        let key = try ECPrivateKey.generate()
        let expected: JOSEError = header.isEmpty ? .malformed : .invalidHeader
        #expect(try refusal(token(header: header, with: key), key.publicKey) == expected)
    }

    @Test(arguments: [#"["b64"]"#, "[]", "null", #""exp""#])
    func aCriticalHeaderIsRefused(_ value: String) throws {
        let key = try ECPrivateKey.generate()
        let header = #"{"alg":"ES256","b64":false,"crit":\#(value)}"#
        #expect(try refusal(token(header: header, with: key), key.publicKey) == .criticalHeader)
    }

    @Test(arguments: [
        "null", "[]", #""AQ==""#, #"["AQ"]"#, #"["A Q=="]"#, #"["A-=="]"#, #"[""]"#, #"["AQ==",1]"#,
        #"["AQ==","AQ==","AQ==","AQ==","AQ==","AQ==","AQ==","AQ==","AQ=="]"#,
    ])
    func aCertificateListOfTheWrongFormIsRefused(_ value: String) throws {
        let key = try ECPrivateKey.generate()
        let header = #"{"alg":"ES256","x5c":\#(value)}"#
        #expect(try refusal(token(header: header, with: key), key.publicKey) == .invalidCertificateChain)
    }

    @Test func parametersThatAreNotUnderstoodAreIgnored() throws {
        let key = try ECPrivateKey.generate()
        let header = #"{"jku":"https://example.com","jwk":{},"alg":"ES256","x":[1]}"#
        #expect(try refusal(token(header: header, with: key), key.publicKey) == nil)
    }

    @Test func signaturesOfTheWrongFormAreRefused() throws {
        let key = try ECPrivateKey.generate()
        let input = "eyJhbGciOiJFUzI1NiJ9.cGF5bG9hZA"
        let good = try key.signature(for: Array(input.utf8))
        let zero = [UInt8](repeating: 0, count: 32)
        let order = try #require(Base64URL.decode("_____wAAAAD__________7zm-q2nF56E87nKwvxjJVE"))
        func refusal(_ signature: [UInt8]) -> JOSEError? {
            self.refusal(input + "." + Base64URL.encode(signature), key.publicKey)
        }
        #expect(refusal(good) == nil)
        #expect(refusal(Array(good.dropLast())) == .invalidSignatureLength)
        #expect(refusal(good + [0]) == .invalidSignatureLength)
        #expect(refusal(zero + good[32...]) == .invalidSignature)
        #expect(refusal(good[..<32] + zero) == .invalidSignature)
        #expect(refusal(order + good[32...]) == .invalidSignature)
        #expect(refusal(good[..<32] + order) == .invalidSignature)
        // DER is longer than 64 bytes but for one signature in millions.
        #expect(try refusal(key.derSignature(for: Array(input.utf8))) != nil)
    }

    @Test func errorsShowNothingOfTheToken() throws {
        let key = try ECPrivateKey.generate()
        let secret = "c2VjcmV0"
        for header in [#"{"alg":"\#(secret)"}"#, #"{"alg":"ES256","\#(secret)":1,"\#(secret)":1}"#] {
            let error = try #require(try refusal(token(header: header, with: key), key.publicKey))
            var dumped = ""
            dump(error, to: &dumped)
            for text in ["\(error)", String(reflecting: error), dumped] { #expect(!text.contains(secret)) }
        }
    }
}
