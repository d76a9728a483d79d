package import Foundation
package import JSON
package import OpenSSL

/// The claims of a JWT.
///
/// Reading them checks their form alone: whether a token has ended or is meant for someone else is the caller's to
/// decide.
/// Source: RFC 7519, section 4.
package struct JWTClaims: Sendable, Equatable {
    /// The end of the year 9999, beyond which no claim makes sense.
    private static let maximumSeconds: Double = 253_402_300_799

    /// `iss`: who made the token.
    package var issuer: String?
    /// `aud`: whom it is for; empty when the claim is absent.
    package var audience: [String]
    /// `iat`: when it was made; written in whole seconds, fractions cut.
    package var issuedAt: Date?
    /// `exp`: when it ends; written in whole seconds, fractions cut.
    package var expiresAt: Date?
    /// `nbf`: before this the token is not to be accepted; written in whole seconds, fractions cut.
    package var notBefore: Date?
    /// All other claims by name.
    package var others: [UntrustedText: JSONValue]

    /// Claims to sign.
    package init(
        issuer: String? = nil, audience: [String] = [], issuedAt: Date? = nil, expiresAt: Date? = nil,
        others: [UntrustedText: JSONValue] = [:]
    ) {
        self.issuer = issuer
        self.audience = audience
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.others = others
    }

    /// Reads the payload of a JWT.
    ///
    /// - Parameter payload: One JSON object.
    /// - Throws: ``JOSEError/invalidClaims`` for anything else, and for registered claims of the wrong type.
    package init(parsing payload: [UInt8]) throws(JOSEError) {
        let members: JSONMembers
        do throws(JSONError) {
            members = try JSONScanner.members(of: payload)
        } catch {
            throw .invalidClaims
        }
        self.init()
        for (name, value) in members {
            switch name {
            case "iss": issuer = try Self.required(value.string?.streamSafe)
            case "aud": audience = try Self.audience(value)
            case "iat": issuedAt = try Self.date(value)
            case "exp": expiresAt = try Self.date(value)
            case "nbf": notBefore = try Self.date(value)
            default: others[name] = try Self.required(value.value)
            }
        }
    }

    /// The claims as the payload of a JWT: one JSON object, the registered claims first, the others by name.
    package var payload: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.memberIfPresent("iss", issuer)
            writer.memberIfPresent("iat", issuedAt.map(Self.seconds))
            writer.memberIfPresent("exp", expiresAt.map(Self.seconds))
            writer.memberIfPresent("nbf", notBefore.map(Self.seconds))
            if audience.count == 1 {
                writer.memberIfPresent("aud", audience.first)
            } else if !audience.isEmpty {
                writer.member("aud", audience)
            }
            for (name, value) in others.sorted(by: { $0.key < $1.key }) {
                writer.name(name)
                writer.value(value)
            }
        }
        return writer.bytes
    }

    /// Another claim, if it is there and is text.
    package func text(_ name: UntrustedText) -> String? { others[name]?.string }

    private static func required<Value>(_ value: Value?) throws(JOSEError) -> Value {
        guard let value else { throw .invalidClaims }
        return value
    }

    private static func audience(_ value: JSONSlice) throws(JOSEError) -> [String] {
        if let single = value.string { return [single.streamSafe] }
        return try required(value.array).map { (element) throws(JOSEError) in try required(element.string?.streamSafe) }
    }

    /// Reads a NumericDate, which may have a fraction.
    private static func date(_ value: JSONSlice) throws(JOSEError) -> Date {
        let seconds = try required(value.double)
        guard abs(seconds) <= maximumSeconds else { throw .invalidClaims }
        return Date(timeIntervalSince1970: seconds)
    }

    private static func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970.rounded(.down)) }
}

/// JWTs as compact JWS (RFC 7519).
package enum JWT {
    /// Signs claims with ES256.
    ///
    /// - Parameters:
    ///   - claims: The payload.
    ///   - keyID: `kid`, by which the reader finds the key.
    ///   - key: The signer's key.
    /// - Returns: The token.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package static func sign(
        _ claims: JWTClaims, keyID: String?, with key: ECPrivateKey
    ) throws(OpenSSLError) -> String {
        try CompactJWS.sign(claims.payload, header: JOSEHeader(keyID: keyID, type: "JWT"), with: key)
    }
}
