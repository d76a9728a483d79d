import Foundation
import JSON
import OpenSSL

@testable import JOSE

/// Base64 in both alphabets, and tokens with their parts.
let joseTargets = [
    FuzzTarget(name: "base64") { bytes in
        try hold(Base64URL.decode(Base64URL.encode(bytes)) == bytes, "Base64url loses bytes")
        try hold(Base64URL.encodeBytes(bytes) == Array(Base64URL.encode(bytes).utf8), "two forms of Base64url")
        try hold(Base64.decode(Base64.encode(bytes)) == bytes, "Base64 loses bytes")
        try hold(Base64.encode(bytes) == Data(bytes).base64EncodedString(), "Foundation writes other Base64")
        if let decoded = Base64URL.decode(bytes.span) {
            // One text for each content: whoever changes a digit changes the content.
            try hold(Base64URL.encodeBytes(decoded) == bytes, "Base64url has two texts for one content")
        }
        guard let text = bytes.text else { return }
        try hold(Base64URL.decode(text) == Base64URL.decode(bytes.span), "text and bytes are decoded differently")
        guard let decoded = Base64.decode(text) else { return }
        try hold(Base64.encode(decoded) == text, "Base64 has two texts for one content")
        try hold(Data(base64Encoded: text).map(Array.init) == decoded, "Foundation reads other bytes")
    },
    FuzzTarget(name: "jws") { bytes in
        guard let token = try? CompactJWS(bytes) else { return }
        let parts = bytes.split(separator: CompactJWS.dot, omittingEmptySubsequences: false)
        try hold(parts.count == 3 && parts.allSatisfy { !$0.isEmpty }, "a token of other than three parts")
        try hold(token.protectedHeader == parts[0], "another header")
        let payload = try? token.decodePayload()
        try hold(payload == Base64URL.decode(Array(parts[1]).span), "another payload")
        guard let header = try? token.parseHeader() else { return }
        let signer = try SignedTokens.shared.get()
        let isValid = (try? token.verify(with: signer.key, header: header)) != nil
        let known = try KnownSigner(header: header, key: signer.key)
        try hold(((try? token.verify(with: known)) != nil) == isValid, "two ways of verification disagree")
        let signed = Array(bytes[..<(parts[2].startIndex - 1)])
        try hold(!isValid || signer.contents.contains(signed), "a token is believed that nobody signed")
    },
    FuzzTarget(name: "jose-header") { bytes in
        let segment = Base64URL.encodeBytes(bytes)
        guard let header = try? JOSEHeader(rawSegment: segment) else { return }
        try hold(header.rawSegment == segment, "the header is kept otherwise than it came")
        let members = try JSONScanner.members(of: bytes)
        try hold(
            members["alg"]?.string == "ES256" && members["crit"] == nil, "an algorithm or extension is let through")
        let written = JOSEHeader(
            keyID: header.keyID, type: header.type, certificateChain: header.certificateChain)
        let again = try JOSEHeader(rawSegment: written.rawSegment)
        try hold(
            again.keyID == header.keyID && again.type == header.type
                && again.certificateChain == header.certificateChain, "a header is read otherwise than it was written")
    },
    FuzzTarget(name: "jwt-claims") { bytes in
        guard let claims = try? JWTClaims(parsing: bytes) else { return }
        let written = claims.payload
        let again = try JWTClaims(parsing: written)
        try hold(again.payload == written, "claims are written otherwise the second time")
        try hold(again.others == claims.others && again.audience == claims.audience, "claims are lost")
        // No claim of the payload is dropped unseen.
        let members = try JSONScanner.members(of: bytes)
        let registered = [
            claims.issuer != nil, claims.issuedAt != nil, claims.expiresAt != nil, claims.notBefore != nil,
            // An empty list is an audience of nobody.
            members["aud"] != nil,
        ]
        let known = claims.others.count + registered.count { $0 }
        try hold(known == members.count, "\(members.count) members are \(known) claims")
    },
]

/// What was really signed, and by which key: nothing else may verify.
private struct SignedTokens {
    let key: ECPublicKey
    /// Header and payload with the dot between them.
    let contents: Set<[UInt8]>

    static let shared = Result {
        SignedTokens(
            key: try ECPublicKey(pemRepresentation: try FuzzTarget.fixture("jws-signer.pem").text ?? ""),
            contents: Set(
                try FuzzTarget.signed(in: "jws").map { Array($0.prefix(upTo: $0.lastIndex(of: CompactJWS.dot) ?? 0)) }))
    }
}
