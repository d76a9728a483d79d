import Foundation
import JOSE
import JSON
import OpenSSL
import Testing

@Suite struct JWTClaimsTests {
    private func parse(_ json: String) throws(JOSEError) -> JWTClaims { try JWTClaims(parsing: Array(json.utf8)) }

    @Test func claimsReadBackAsTheyWereSigned() throws {
        let key = try ECPrivateKey.generate()
        let claims = JWTClaims(
            issuer: "57246542-96fe-1a63-e053-0824d011072a", audience: ["audience-v1"],
            issuedAt: Date(timeIntervalSince1970: 1_700_000_000), expiresAt: Date(timeIntervalSince1970: 1_700_001_200),
            others: ["bid": "com.example", "nonce": "x", "flag": true])
        let token = try JWT.sign(claims, keyID: "ABC123", with: key)
        let jws = try CompactJWS(token)
        let header = try jws.verify(with: key.publicKey)
        #expect(header.keyID == "ABC123")
        #expect(header.type == "JWT")
        let payload = try jws.decodePayload()
        #expect(try JWTClaims(parsing: payload) == claims)
        #expect(
            String(decoding: payload, as: UTF8.self)
                == #"{"iss":"57246542-96fe-1a63-e053-0824d011072a","iat":1700000000,"exp":1700001200,"#
                + #""aud":"audience-v1","bid":"com.example","flag":true,"nonce":"x"}"#)
    }

    @Test func absentClaimsStayAbsent() throws {
        #expect(JWTClaims().payload == Array("{}".utf8))
        let claims = try parse("{}")
        #expect(claims == JWTClaims())
        #expect(claims.issuedAt == nil)
    }

    @Test func theAudienceMayBeOneOrSeveral() throws {
        #expect(try parse(#"{"aud":"one"}"#).audience == ["one"])
        #expect(try parse(#"{"aud":["one","two"]}"#).audience == ["one", "two"])
        #expect(try parse(#"{"aud":[]}"#).audience.isEmpty)
        #expect(JWTClaims(audience: ["one", "two"]).payload == Array(#"{"aud":["one","two"]}"#.utf8))
    }

    @Test func timesMayHaveFractions() throws {
        let claims = try parse(#"{"iat":1700000000,"exp":1700000000.5}"#)
        #expect(claims.issuedAt == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(claims.expiresAt == Date(timeIntervalSince1970: 1_700_000_000.5))
        #expect(claims.payload == Array(#"{"iat":1700000000,"exp":1700000000}"#.utf8))
        #expect(try parse(#"{"exp":1.7e9}"#).expiresAt == Date(timeIntervalSince1970: 1_700_000_000))
    }

    @Test(arguments: [
        "", "null", "[]", "{", #"{"iss":1}"#, #"{"aud":1}"#, #"{"aud":["one",2]}"#, #"{"iat":"1700000000"}"#,
        #"{"exp":null}"#,
        #"{"exp":1e400}"#, #"{"exp":1e12}"#, #"{"exp":-1e12}"#, #"{"exp":1,"exp":2}"#, #"{"exp":true}"#,
    ])
    func anythingElseIsRefused(_ json: String) {
        #expect(throws: JOSEError.invalidClaims) { try parse(json) }
    }
}
