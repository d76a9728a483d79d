import Domain
import OpenSSL

/// `purser callers hash`: makes a caller's bearer token, or hashes one that exists.
///
/// A token is never taken from an argument: arguments are visible to every user of the machine.
package enum CallersHashCommand {
    /// The shortest token accepted from outside, in characters; ours have 61.
    static let minimumLength = 32
    /// The longest token accepted from outside, in characters.
    static let maximumLength = 1024
    /// How much of the standard input is read: enough to tell that a token is too long.
    package static let maximumInputBytes = maximumLength + 2

    /// Draws a token of 256 random bits.
    ///
    /// - Returns: the token, shown this once, and what to put into the configuration.
    package static func makeToken() -> CommandOutcome {
        do {
            let token = try OpaqueToken.generate { try SecureRandom.bytes($0) }.text
            let output = """
                # Give this token to the caller; it is not kept anywhere and not shown again:
                \(token)

                # Put this under `callers` in the configuration, with the caller's name, apps and scopes:
                \(try snippet(token))
                """
            return CommandOutcome(.success, output: output)
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(error)\n")
        }
    }

    /// Hashes a token that was read from the standard input.
    ///
    /// - Parameter input: the token, with or without a line end.
    /// - Returns: what to put into the configuration.
    package static func hash(input: String) -> CommandOutcome {
        let token = input.hasSuffix("\n") ? String(input.dropLast()) : input
        // The characters of RFC 6750, section 2.1.
        let isToken = token.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~+/=".utf8.contains(byte)
            }
        }
        if case .damaged = OpaqueToken.read(token) {
            return CommandOutcome(
                .failure,
                errorOutput: "The token begins as ours do, but its checksum is wrong: it is mistyped or cut off.\n")
        }
        guard isToken, (minimumLength...maximumLength).contains(token.utf8.count) else {
            return CommandOutcome(
                .failure,
                errorOutput: """
                    A token has \(minimumLength) to \(maximumLength) characters, all of them letters, digits or one of \
                    `-._~+/=`.

                    """)
        }
        do {
            return CommandOutcome(.success, output: try snippet(token))
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(error)\n")
        }
    }

    private static func snippet(_ token: String) throws(OpenSSLError) -> String {
        """
          billing:
            tokenSHA256: "\(try SHA256Digest.hexadecimalDigest(Array(token.utf8)))"
            scopes: { coins: [consumption:write, refunds:read, transactions:read, links:write] }

        """
    }
}
