import Foundation
import OpenSSL

/// A configuration of Purser for a measurement.
struct PurserConfiguration: Sendable {
    /// What the caller of all measurements may do.
    private static let scopes = "[consumption:write, refunds:read, transactions:read]"
    /// The calls whose limits must not be what is measured.
    private static let calls = ["Get Transaction Info", "Get Refund History", "Send Consumption Information"]

    /// Names the files; several daemons can use one after the other.
    let name: String
    /// How many apps there are, a multiple of ten; the measurements ask about ten of them, which lie far from each other.
    var apps = Self.measuredApps
    /// Whether deliveries may go to Apple; otherwise they stay queued, because the limit is as low as it can be.
    var sends = true

    /// The caller's token.
    static let token = "prs_" + String(repeating: "purserbench", count: 4)

    /// How many apps the measurements ask about.
    static let measuredApps = 10

    /// The slug of an app.
    static func app(_ index: Int) -> String { "a\(index)" }

    /// The slug of one of the apps that the measurements ask about.
    func measuredApp(_ index: Int) -> String { Self.app(index * distance) }

    /// How far they lie from each other.
    var distance: Int { apps / Self.measuredApps }

    private func bundleID(_ index: Int) -> String {
        index % distance == 0 ? Fixtures.bundleID(index / distance) : "com.example.other\(index)"
    }

    /// The file for one daemon.
    ///
    /// - Parameters:
    ///   - ports: where to listen.
    ///   - upstream: the port of what stands for Apple.
    ///   - bench: where its files are.
    /// - Returns: its content.
    /// - Throws: `OpenSSLError`
    func yaml(_ ports: PurserDaemon.Ports, upstream: Int, in bench: Bench) throws -> String {
        let digest = try SHA256Digest.hexadecimalDigest(Array(Self.token.utf8))
        let url = "https://localhost:\(upstream)"
        let slugs = (0..<apps).map(Self.app)
        let rates = Self.calls.map { call in
            let rate = call == "Send Consumption Information" && !sends ? 1 : 100_000
            return "\"\(call)\": \(rate)"
        }
        return """
            store: "sqlite:\(databasePath(in: bench))"
            log: { level: error }
            listeners:
              api: { address: "127.0.0.1:\(ports.api)" }
              webhook: { address: "127.0.0.1:\(ports.webhook)" }
              admin: { address: none }
              health: { address: none }
            apple:
              rateLimits:
                sandboxShare: \(sends ? 100 : 1)%
                requestsPerSecond: { \(rates.joined(separator: ", ")) }
              rootCertificates: ["\(bench.fixtures.path("root.der"))"]
              upstream: { production: "\(url)", sandbox: "\(url)" }
              certificateAuthorityFile: "\(bench.fixtures.path("ca.pem"))"
            keys:
              - id: \(Fixtures.keyID)
                issuer: \(Fixtures.issuerID)
                file: "\(bench.fixtures.path("api.p8"))"
                state: active
                apps: [\(slugs.joined(separator: ", "))]
            apps:
            \(slugs.indices.map(app).joined(separator: "\n"))
            callers:
              bench:
                tokenSHA256: "\(digest)"
                scopes:
            \(slugs.enumerated().map { "      \($1): \($0 == 0 ? "&all \(Self.scopes)" : "*all")" }.joined(separator: "\n"))

            """
    }

    private func app(_ index: Int) -> String {
        "  \(Self.app(index)): {bundleId: \(bundleID(index)), appAppleId: \(Fixtures.appAppleID)}"
    }

    /// The database, which outlives a daemon within one run.
    func databasePath(in bench: Bench) -> String { bench.folder.appending(path: "\(name).db").path }
}
