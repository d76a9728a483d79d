import Curl
import Domain
import Foundation
import KeyCustody
import OpenSSL

/// `purser keys`: what an operator does with signing keys, through the running daemon.
///
/// A key is read from a file or the standard input, never from an argument: arguments are visible to every user of the machine.
package struct SigningKeysCommand: Sendable {
    /// How long an act may take that asks Apple.
    private static let askingApple = Duration.seconds(300)

    private let daemon: RunningDaemon

    package init(daemon: RunningDaemon) { self.daemon = daemon }

    /// Lists every key.
    package func list() async -> CommandOutcome {
        await perform(.get, "/v1/keys") { try $0.decoded(SigningKeyList.self).text }
    }

    /// Tells all that is known of a key.
    package func show(_ keyID: String) async -> CommandOutcome {
        await perform(.get, Self.path(keyID)) { try $0.decoded(SigningKey.self).details }
    }

    /// Hands a key to the daemon.
    ///
    /// - Parameters:
    ///   - path: the `.p8` file; `-` is the standard input.
    ///   - keyID: Apple's id of the key; nil takes it from a name such as `AuthKey_ABC.p8`.
    ///   - issuerID: Apple's issuer id.
    ///   - apps: the apps that it signs for.
    /// - Returns: `data` for what is no key, `noInput` for a file that cannot be read, or what the daemon says.
    package func importKey(
        from path: String, keyID: String?, issuerID: String, apps: [String]
    ) async -> CommandOutcome {
        // Someone may give the key itself in the place of its file.
        let name = QuotableText.path(path)
        guard let keyID = keyID ?? KeyDirectory.keyID(ofFile: URL(filePath: path).lastPathComponent) else {
            return CommandOutcome(.data, errorOutput: "The name of \(name) tells no key id; give it with --id.\n")
        }
        let text: SecureBytes
        do throws(SecureBytesError) {
            text =
                path == "-"
                ? try SecureBytes(readingFrom: STDIN_FILENO, maximumCount: KeyFacts.maximumFileBytes)
                : try SecureBytes(contentsOfFile: path, maximumCount: KeyFacts.maximumFileBytes)
        } catch {
            return CommandOutcome(.noInput, errorOutput: "\(name): \(error)\n")
        }
        do throws(PrivateKeyError) {
            // What is no key does not leave this process.
            _ = try ECPrivateKey(pkcs8PEM: text)
        } catch {
            return CommandOutcome(.data, errorOutput: "\(name) is \(error).\n")
        }
        let query = [("issuerId", issuerID)] + apps.map { ("app", $0) }
        let parameters = query.map { "\($0)=\(CallerKeysCommand.segment($1))" }.joined(separator: "&")
        let body = text.withUnsafeBytes { Array($0) }
        return await perform(
            .post, "\(Self.path(keyID)):import?\(parameters)", body: body, contentType: "application/x-pem-file"
        ) { reply in
            let key = try reply.decoded(SigningKey.self)
            return """
                Key \(key.keyId) is imported and stands by for \(key.apps.joined(separator: ", ")).
                Next: purser keys check \(key.keyId), then purser keys activate \(key.keyId).

                """
        }
    }

    /// Lets Apple judge a key.
    ///
    /// - Returns: `failure` when Apple takes it for some app nowhere.
    package func check(_ keyID: String) async -> CommandOutcome {
        await RunningDaemon.outcome {
            let reply = try await daemon.client().send(
                .post, "\(Self.path(keyID)):check", timeout: Self.askingApple)
            guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
            let check = try reply.decoded(SigningKeyCheck.self)
            return CommandOutcome(check.passes ? .success : .failure, output: check.text)
        }
    }

    /// Makes a key the one that signs.
    package func activate(_ keyID: String, apps: [String], unchecked: Bool) async -> CommandOutcome {
        let request = ActivationRequest(apps: apps.isEmpty ? nil : apps, unchecked: unchecked)
        let body: [UInt8]
        do {
            body = Array(try JSONEncoder().encode(request))
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(error)\n")
        }
        return await perform(.post, "\(Self.path(keyID)):activate", body: body) { reply in
            let key = try reply.decoded(SigningKey.self)
            return "Key \(key.keyId) signs for \(key.activeApps.joined(separator: ", ")).\n"
        }
    }

    /// Takes a key out of use that signs for nobody.
    package func retire(_ keyID: String) async -> CommandOutcome {
        await perform(.post, "\(Self.path(keyID)):retire") {
            "Key \(try $0.decoded(SigningKey.self).keyId) is retired.\n"
        }
    }

    /// Takes a key out of use at once and for good.
    package func revoke(_ keyID: String) async -> CommandOutcome {
        await perform(.post, "\(Self.path(keyID)):revoke") { reply in
            "Key \(try reply.decoded(SigningKey.self).keyId) is revoked; revoke it in App Store Connect, too.\n"
        }
    }

    /// Removes an imported key.
    package func delete(_ keyID: String) async -> CommandOutcome {
        await perform(.delete, Self.path(keyID)) { _ in "Key \(keyID) is deleted.\n" }
    }

    /// Seals everything under another master key.
    ///
    /// - Returns: `failure` when something could not be sealed anew.
    package func rewrap() async -> CommandOutcome {
        await RunningDaemon.outcome {
            let reply = try await daemon.client().send(.post, "/v1/keys:rewrap", timeout: AdminClient.longTimeout)
            guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
            let change = try reply.decoded(MasterKeyRewrap.self)
            return CommandOutcome(
                change.failures.isEmpty ? .success : .failure, output: change.text,
                errorOutput: change.failures.map { "\($0)\n" }.joined())
        }
    }

    private func perform(
        _ method: CurlRequest.Method, _ target: String, body: [UInt8]? = nil,
        contentType: String = AdminClient.json, _ text: (AdminClient.Reply) throws -> String
    ) async -> CommandOutcome {
        await RunningDaemon.outcome {
            let reply = try await daemon.client().send(
                method, target, body: body.map { Data($0) }, contentType: contentType, timeout: Self.askingApple)
            guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
            return CommandOutcome(.success, output: try text(reply))
        }
    }

    private static func path(_ keyID: String) -> String { "/v1/keys/\(CallerKeysCommand.segment(keyID))" }
}

// What `purser keys` and the daemon tell each other: `api/openapi.yaml` describes it.

/// The body of an activation.
struct ActivationRequest: Encodable {
    let apps: [String]?
    let unchecked: Bool
}

/// What Apple said of a key.
struct SigningKeyCheck: Decodable {
    struct Finding: Decodable {
        let app: String
        let environment: String
        let verdict: String
    }

    let keyId: String
    let passes: Bool
    let findings: [Finding]

    /// The answer for people.
    var text: String {
        let lines = findings.map { "\($0.app), \($0.environment): \($0.verdict)\n" }.joined()
        let verdict = passes ? "Apple takes key \(keyId)." : "Apple does not take key \(keyId) for every app."
        return "\(lines)\(verdict)\n"
    }
}

/// What a change of the master key came to.
struct MasterKeyRewrap: Decodable {
    let masterKeyId: String
    let rewrapped: Int
    let failures: [String]
    let fileToClean: String?

    /// The answer for people.
    var text: String {
        let next = fileToClean.map { "The earlier keys can be removed from \($0) now, unless a backup needs them.\n" }
        return "\(rewrapped) secrets are sealed under master key \(masterKeyId).\n" + (next ?? "")
    }
}

/// A key as the daemon tells of it.
struct SigningKey: Decodable {
    let keyId: String
    let issuerId: String
    let apps: [String]
    let source: String
    let state: String
    let activeApps: [String]
    let fingerprint: String?
    let importedAt: String?
    let importedBy: String?
    let firstSeenAt: String?
    let lastUsedAt: String?
    let problem: String?
    let warnings: [String]

    /// One line, and one more for what is wrong.
    var line: String {
        let role = activeApps.isEmpty ? state : "\(state) for \(activeApps.joined(separator: ", "))"
        let notes = [problem.map { "CANNOT SIGN: \($0)" }].compactMap(\.self) + warnings.map { "look: \($0)" }
        return
            (["\(keyId)  \(role)  (\(source); may sign for \(apps.joined(separator: ", ")))"]
            + notes.map { "    \($0)" })
            .map { "\($0)\n" }.joined()
    }

    /// All that is known.
    var details: String {
        let rows: [(String, String?)] = [
            ("key id", keyId), ("issuer id", issuerId), ("state", state), ("source", source),
            ("may sign for", apps.joined(separator: ", ")),
            ("signs for", activeApps.isEmpty ? "nobody" : activeApps.joined(separator: ", ")),
            ("fingerprint", fingerprint), ("first seen", firstSeenAt), ("last used", lastUsedAt ?? "never"),
            ("imported", importedAt), ("imported by", importedBy), ("problem", problem),
        ]
        let lines = rows.compactMap { name, value in
            value.map { "\(name):".padding(toLength: 15, withPad: " ", startingAt: 0) + "\($0)\n" }
        }
        return lines.joined() + warnings.map { "look:          \($0)\n" }.joined()
    }
}

/// Every key.
struct SigningKeyList: Decodable {
    let masterKeyId: String
    let keys: [SigningKey]
    let directoryProblems: [String]

    /// The list for people.
    var text: String {
        let none = keys.isEmpty ? "There is no key; docs/keys.md tells how to add one.\n" : ""
        return "master key: \(masterKeyId)\n" + none + keys.map(\.line).joined()
            + directoryProblems.map { "NOT USED: \($0)\n" }.joined()
    }
}
