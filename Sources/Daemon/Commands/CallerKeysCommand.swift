import Curl
import Foundation
import OpenSSL

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
            try NewFile.write(try key.pkcs8PEM(), to: path)
            do {
                let request = KeyRequest(
                    app: app, publicKey: try key.publicKey.pemRepresentation(), scopes: scopes.isEmpty ? nil : scopes)
                let reply = try await client.send(
                    .post, "/v1/callers/\(Self.segment(caller))/keys", body: try JSONEncoder().encode(request))
                guard reply.isSuccess else {
                    NewFile.remove(path)
                    return try RunningDaemon.refusal(reply)
                }
                return CommandOutcome(.success, output: Self.text(try reply.decoded(IssuedKey.self), caller, path))
            } catch {
                NewFile.remove(path)
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
    private static func segment(_ text: String) -> String {
        let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
