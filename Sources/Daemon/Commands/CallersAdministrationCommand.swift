import Curl
import Foundation

/// `purser callers add`, `list`, `show`, `grant`, `rotate` and the rest: who may call, asked of the running daemon.
///
/// A token comes back once, to be given to its caller: on the standard output of `add` and `rotate`, and nowhere else.
package struct CallersAdministrationCommand: Sendable {
    private let daemon: RunningDaemon

    package init(daemon: RunningDaemon) { self.daemon = daemon }

    /// What `purser callers add` is told.
    package struct Addition: Sendable {
        package var app: [String] = []
        package var scopes: [String] = []
        package var certificates: [String] = []
        package var uids: [UInt32] = []
        package var gids: [UInt32] = []
        /// Nil lets the daemon decide: a token unless something of a connection stands for the caller.
        package var givesToken: Bool?
        package var expiresInSeconds: Int?

        package init() {}
    }

    /// Adds a caller; every scope is granted for every app named.
    package func add(_ name: String, _ addition: Addition) async -> CommandOutcome {
        let scopes = Dictionary(addition.app.map { ($0, addition.scopes) }) { first, _ in first }
        return await issue(
            .post, "/v1/callers",
            CallerAdditionBody(
                name: name, scopes: scopes, token: addition.givesToken, expiresInSeconds: addition.expiresInSeconds,
                certificates: addition.certificates, uids: addition.uids, gids: addition.gids))
    }

    /// Gives a caller a new token; the old one ends after a while.
    package func rotate(_ name: String, graceSeconds: Int?, expiresInSeconds: Int?) async -> CommandOutcome {
        await issue(
            .post, Self.path(name) + "/tokens",
            CallerRotationBody(graceSeconds: graceSeconds, expiresInSeconds: expiresInSeconds))
    }

    /// Callers of a page: each can have a hundred certificates, and an answer is bounded.
    private static let pageSize = 50

    /// Lists every caller, page by page.
    package func list() async -> CommandOutcome {
        await RunningDaemon.outcome {
            try await daemon.client().withConnection { send in
                var text = ""
                var token: String?
                repeat {
                    var target = "/v1/callers?pageSize=\(Self.pageSize)"
                    if let token { target += "&pageToken=\(CallerKeysCommand.segment(token))" }
                    let reply = try await send(.get, target, nil, nil)
                    guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
                    let page = try reply.decoded(CallerListBody.self)
                    if text.isEmpty { text = "issuer id: \(page.issuerId)\n" }
                    text += page.callers.map(\.text).joined()
                    token = page.nextPageToken
                } while token != nil
                return CommandOutcome(.success, output: text)
            }
        }
    }

    /// Shows one caller.
    package func show(_ name: String) async -> CommandOutcome { await change(.get, Self.path(name)) }

    /// Allows a caller more of an app, or less.
    package func grant(_ name: String, app: String, scopes: [String], isWithdrawn: Bool) async -> CommandOutcome {
        await change(
            .post, Self.path(name) + (isWithdrawn ? ":ungrant" : ":grant"), CallerGrantBody(app: app, scopes: scopes))
    }

    /// Lets something of a connection stand for a caller, or no more.
    package func bind(_ name: String, kind: String, value: String, isEnded: Bool) async -> CommandOutcome {
        await change(
            isEnded ? .delete : .put, Self.path(name) + "/bindings/\(kind)/\(CallerKeysCommand.segment(value))")
    }

    /// Revokes a caller's token or key, at once and for good.
    ///
    /// - Parameters:
    ///   - name: the caller's name.
    ///   - credential: the eight characters that name a token, or the ten of a key.
    /// - Returns: `success`, or `failure` when there is no such credential or the daemon cannot be asked.
    package func revoke(_ name: String, _ credential: String) async -> CommandOutcome {
        let kind = credential.utf8.count == 10 ? "keys" : "tokens"
        let target = Self.path(name) + "/\(kind)/\(CallerKeysCommand.segment(credential))"
        return await ask(.delete, target) { _ in "\(credential) of caller \(name) is revoked.\n" }
    }

    /// Removes a caller with all that it proves itself by.
    package func remove(_ name: String) async -> CommandOutcome {
        await ask(.delete, Self.path(name)) { _ in "Caller \(name) is removed; nothing proves it any more.\n" }
    }

    private static func path(_ name: String) -> String { "/v1/callers/\(CallerKeysCommand.segment(name))" }

    private func change(
        _ method: CurlRequest.Method, _ target: String, _ body: (some Encodable & Sendable)? = CallerGrantBody?.none
    ) async -> CommandOutcome {
        await ask(method, target, body) { try $0.decoded(CallerListBody.Caller.self).text }
    }

    /// A request whose answer may hold a token.
    private func issue(
        _ method: CurlRequest.Method, _ target: String, _ body: some Encodable & Sendable
    ) async -> CommandOutcome {
        await ask(method, target, body) { reply in
            let issued = try reply.decoded(IssuedTokenBody.self)
            guard let token = issued.token else { return issued.caller.text }
            let end = token.expiresAt.map { ", until \($0)" } ?? ""
            return """
                # Give this token to \(issued.caller.name); it is not kept anywhere and not shown again\(end):
                \(token.token)

                \(issued.caller.text)
                """
        }
    }

    private func ask(
        _ method: CurlRequest.Method, _ target: String,
        _ body: (some Encodable & Sendable)? = CallerGrantBody?.none, text: (AdminClient.Reply) throws -> String
    ) async -> CommandOutcome {
        await RunningDaemon.outcome {
            let reply = try await daemon.client().send(method, target, body: try body.map(JSONEncoder().encode))
            guard reply.isSuccess else { return try RunningDaemon.refusal(reply) }
            return CommandOutcome(.success, output: try text(reply))
        }
    }
}

// What `purser callers` and the daemon tell each other: `api/openapi.yaml` describes it.

/// The body of a request to add a caller.
struct CallerAdditionBody: Encodable {
    let name: String
    let scopes: [String: [String]]
    let token: Bool?
    let expiresInSeconds: Int?
    let certificates: [String]
    let uids: [UInt32]
    let gids: [UInt32]
}

/// The body of a request for a new token.
struct CallerRotationBody: Encodable {
    let graceSeconds: Int?
    let expiresInSeconds: Int?
}

/// The body of a request to allow more, or less.
struct CallerGrantBody: Encodable {
    let app: String
    let scopes: [String]
}

/// A caller that may just have been given a token.
struct IssuedTokenBody: Decodable {
    struct Token: Decodable {
        let token: String
        let expiresAt: String?
    }

    let token: Token?
    let caller: CallerListBody.Caller
}

/// A page of callers with what they prove themselves by.
struct CallerListBody: Decodable {
    struct Caller: Decodable {
        let name: String
        let source: String
        let shadowed: Bool
        let lastUsedAt: String?
        let scopes: [String: [String]]
        let tokens: [Token]
        let bindings: [Binding]
        let keys: [Key]
    }

    struct Token: Decodable {
        let tokenId: String
        let state: String
        let createdAt: String?
        let expiresAt: String?
        let revokedAt: String?
        let lastUsedAt: String?
    }

    struct Binding: Decodable {
        let kind: String
        let value: String
        let state: String
        let lastUsedAt: String?
    }

    struct Key: Decodable {
        let keyId: String
        let app: String
        let state: String
        let scopes: [String]?
        let createdAt: String
        let revokedAt: String?
        let lastUsedAt: String?
    }

    let issuerId: String
    let callers: [Caller]
    let nextPageToken: String?
}

extension CallerListBody.Caller {
    /// The caller for people.
    var text: String {
        var lines = [
            "\(name) (\(source)\(shadowed ? ", shadowed by the configuration" : "")), last used \(lastUsedAt ?? "never")"
        ]
        for (app, scopes) in scopes.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(app): \(scopes.joined(separator: ", "))")
        }
        lines += tokens.map(\.line) + bindings.map(\.line) + keys.map(\.line)
        return lines.map { "\($0)\n" }.joined()
    }
}

extension CallerListBody.Token {
    fileprivate var line: String {
        var line = "  token \(tokenId): \(state)"
        if let createdAt { line += ", issued \(createdAt)" }
        if let expiresAt { line += ", until \(expiresAt)" }
        if let revokedAt { line += ", revoked \(revokedAt)" }
        return line + ", last used \(lastUsedAt ?? "never")"
    }
}

extension CallerListBody.Binding {
    fileprivate var line: String { "  \(kind) \(value): \(state), last used \(lastUsedAt ?? "never")" }
}

extension CallerListBody.Key {
    fileprivate var line: String {
        var line = "  key \(keyId) for \(app): \(state), issued \(createdAt)"
        if let revokedAt { line += ", revoked \(revokedAt)" }
        if let scopes { line += ", may \(scopes.joined(separator: ", "))" }
        return line + ", last used \(lastUsedAt ?? "never")"
    }
}
