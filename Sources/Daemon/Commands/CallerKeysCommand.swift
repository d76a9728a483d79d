import Curl
import Foundation
import KeyCustody
import OpenSSL

/// `purser callers issue-key`: a key with which a caller signs tokens of its own.
///
/// The running daemon keeps the public half. The private half is made here, goes into its file and nowhere else.
package struct CallerKeysCommand: Sendable {
    private let daemon: RunningDaemon

    package init(daemon: RunningDaemon) { self.daemon = daemon }

    /// Makes a key pair, registers the public half and writes the private half to a file (mode 0600).
    ///
    /// - Parameters:
    ///   - caller: the caller's name.
    ///   - app: the slug of the app that the key is for.
    ///   - scopes: what the key allows, and what a caller may do that is not there yet; empty for all that its caller may do.
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

    private static func text(_ key: IssuedKey, _ caller: String, _ path: String) -> String {
        """
        The private key of \(caller) for app \(key.app) is in \(path), and nowhere else.
        key id:    \(key.keyId)
        issuer id: \(key.issuerId)

        """
    }

    /// A text as one segment of a path (RFC 3986, section 2.3).
    static func segment(_ text: String) -> String {
        // Not `.alphanumerics`, which has the letters of every script.
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        let unreserved = CharacterSet(charactersIn: letters + "0123456789-._~")
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
