import JSON

/// The protected header of a JWS that is signed with ES256.
///
/// A value of this type stands for `alg` `ES256` without `crit`: nothing else can be read or made.
/// Source: RFC 7515, section 4; RFC 7518, section 3.1.
package struct JOSEHeader: Sendable, Equatable {
    /// The most certificates that an `x5c` may hold.
    package static let maximumCertificateCount = 8
    /// The only algorithm.
    package static let algorithm = "ES256"

    /// `kid`: which key signed.
    package let keyID: String?
    /// `typ`: what kind of object the JWS is, mostly `JWT`.
    package let type: String?
    /// `x5c` in DER: the signer's certificate first, then those that vouch for it.
    package let certificateChain: [[UInt8]]?
    /// The header as it stands in the JWS, in Base64url.
    package let rawSegment: [UInt8]

    /// Makes a header to sign with.
    ///
    /// - Parameters:
    ///   - keyID: `kid`.
    ///   - type: `typ`.
    ///   - certificateChain: `x5c` in DER.
    package init(keyID: String? = nil, type: String? = nil, certificateChain: [[UInt8]]? = nil) {
        self.keyID = keyID
        self.type = type
        self.certificateChain = certificateChain
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("alg", Self.algorithm)
            writer.memberIfPresent("kid", keyID)
            writer.memberIfPresent("typ", type)
            if let certificateChain {
                writer.memberArray("x5c") { writer in
                    for certificate in certificateChain { writer.value(Base64.encode(certificate)) }
                }
            }
        }
        rawSegment = Base64URL.encodeBytes(writer.bytes)
    }

    /// Reads a header.
    ///
    /// Parameters that are not named here are ignored (RFC 7515, section 4.2), so keys that a header brings along
    /// (`jwk`, `jku`, `x5u`) have no effect.
    /// - Parameter rawSegment: The first part of a JWS.
    /// - Throws: ``JOSEError``
    package init(rawSegment: [UInt8]) throws(JOSEError) {
        guard let json = Base64URL.decode(rawSegment.span) else { throw .invalidBase64URL }
        let members: JSONMembers
        do throws(JSONError) {
            members = try JSONScanner.members(of: json)
        } catch {
            throw .invalidHeader
        }
        guard members["alg"]?.string == UntrustedText(Self.algorithm) else { throw .unsupportedAlgorithm }
        guard members["crit"] == nil else { throw .criticalHeader }
        keyID = try Self.string(members["kid"])
        type = try Self.string(members["typ"])
        certificateChain = try members["x5c"].map(Self.certificates)
        self.rawSegment = rawSegment
    }

    private static func string(_ value: JSONSlice?) throws(JOSEError) -> String? {
        guard let value else { return nil }
        guard let string = value.string else { throw .invalidHeader }
        return string.streamSafe
    }

    private static func certificates(_ value: JSONSlice) throws(JOSEError) -> [[UInt8]] {
        guard let elements = value.array, 1...maximumCertificateCount ~= elements.count else {
            throw .invalidCertificateChain
        }
        return try elements.map { (element) throws(JOSEError) in
            guard let der = (element.string?.utf8).flatMap(Base64.decode), !der.isEmpty else {
                throw .invalidCertificateChain
            }
            return der
        }
    }
}
