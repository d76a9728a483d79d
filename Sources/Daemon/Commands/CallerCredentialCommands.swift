import Curl
import Foundation
import JOSE
import KeyCustody
import OpenSSL

/// `purser callers hash`: makes a caller's bearer token, or hashes one that exists.
///
/// A token is never taken from an argument: arguments are visible to every user of the machine.
package enum CallersHashCommand {
    /// What our tokens begin with, so that a scanner for leaked secrets can find them.
    static let prefix = "prs_"
    /// The shortest token accepted from outside, in characters; ours have 47.
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
            let token = prefix + Base64URL.encode(try SecureRandom.bytes(32))
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

/// `purser callers list`, `issue-key` and `revoke`: the keys with which callers sign tokens of their own.
///
/// The running daemon keeps the public halves. The private half is made here, goes into its file and nowhere else.
package struct CallerKeysCommand: Sendable {
    private let daemon: RunningDaemon

    package init(daemon: RunningDaemon) { self.daemon = daemon }

    /// Lists every caller with its keys.
    ///
    /// - Returns: `success` with the list, `configuration`, or `failure` when the daemon cannot be asked.
    package func list() async -> CommandOutcome {
        await RunningDaemon.outcome {
            let reply = try await daemon.client().send(.get, "/v1/callers")
            guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
            return CommandOutcome(.success, output: try reply.decoded(CallerList.self).text)
        }
    }

    /// Makes a key pair, registers the public half and writes the private half to a file (mode 0600).
    ///
    /// - Parameters:
    ///   - caller: the caller's name.
    ///   - app: the slug of the app that the key is for.
    ///   - scopes: what a caller may do that the configuration does not name; empty for one that it does.
    ///   - path: the file to write, which must not exist.
    /// - Returns: `success` with key id and issuer id; otherwise no file is left behind.
    package func issue(caller: String, app: String, scopes: [String], to path: String) async -> CommandOutcome {
        await RunningDaemon.outcome {
            let client = try daemon.client()
            let key = try ECPrivateKey.generate()
            try SecretFile.create(try key.pkcs8PEM(), at: path)
            do {
                let request = KeyRequest(
                    app: app, publicKey: try key.publicKey.pemRepresentation(), scopes: scopes.isEmpty ? nil : scopes)
                let reply = try await client.send(
                    .post, "/v1/callers/\(Self.segment(caller))/keys", body: try JSONEncoder().encode(request))
                guard reply.isSuccess else {
                    SecretFile.remove(path)
                    return try RunningDaemon.refusal(reply)
                }
                return CommandOutcome(.success, output: Self.text(try reply.decoded(IssuedKey.self), caller, path))
            } catch {
                SecretFile.remove(path)
                guard case AdminClientError.noAnswer(_, mayHaveArrived: true) = error else { throw error }
                return CommandOutcome(
                    .failure,
                    errorOutput: "\(error) It may have registered the key; revoke what `purser callers list` shows.\n")
            }
        }
    }

    /// Revokes a key, at once and for good.
    ///
    /// - Returns: `success`, or `failure` when there is no such key or the daemon cannot be asked.
    package func revoke(caller: String, keyID: String) async -> CommandOutcome {
        await RunningDaemon.outcome {
            let target = "/v1/callers/\(Self.segment(caller))/keys/\(Self.segment(keyID))"
            let reply = try await daemon.client().send(.delete, target)
            guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
            return CommandOutcome(.success, output: "Key \(keyID) of caller \(caller) is revoked.\n")
        }
    }

    private static func text(_ key: IssuedKey, _ caller: String, _ path: String) -> String {
        """
        The private key of \(caller) for app \(key.app) is in \(path), and nowhere else.
        key id:    \(key.keyId)
        issuer id: \(key.issuerId)

        """
    }

    /// A text as one segment of a path (RFC 3986, section 2.3).
    static func segment(_ text: String) -> String {
        let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

// What `purser callers` and the daemon tell each other: `api/openapi.yaml` describes it.

/// The body of a request for a key.
struct KeyRequest: Encodable {
    let app: String
    let publicKey: String
    let scopes: [String]?
}

/// The answer to a request for a key.
struct IssuedKey: Decodable {
    let issuerId: String
    let keyId: String
    let app: String
}

/// Every caller with its keys.
struct CallerList: Decodable {
    struct Caller: Decodable {
        let name: String
        let source: String
        let scopes: [String: [String]]
        let keys: [Key]
    }

    struct Key: Decodable {
        let keyId: String
        let app: String
        let state: String
        let scopes: [String]?
        let createdAt: String
        let revokedAt: String?
    }

    let issuerId: String
    let callers: [Caller]

    /// The list for people.
    var text: String {
        var lines = ["issuer id: \(issuerId)"]
        for caller in callers {
            lines.append("\(caller.name) (\(caller.source))")
            for (app, scopes) in caller.scopes.sorted(by: { $0.key < $1.key }) {
                lines.append("  \(app): \(scopes.joined(separator: ", "))")
            }
            lines += caller.keys.map(Self.line)
        }
        return lines.map { "\($0)\n" }.joined()
    }

    private static func line(_ key: Key) -> String {
        var line = "  key \(key.keyId) for \(key.app): \(key.state), issued \(key.createdAt)"
        if let revokedAt = key.revokedAt { line += ", revoked \(revokedAt)" }
        if let scopes = key.scopes { line += ", may \(scopes.joined(separator: ", "))" }
        return line
    }
}
