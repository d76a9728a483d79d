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
