import Foundation
import Listener
import Logging
import OpenSSL
import Postgres
import TestSupport
import Testing

@testable import Daemon
@testable import Domain

/// A key that someone has put where no key belongs: nothing of it is in an error, a warning, a log line or a record.
///
/// `KeyCustodyTests.MutilatedKeyTests` has the places where keys belong.
struct MisplacedKeyTests {
    private static let rounds = 5

    private func withFolder(_ body: (_ path: (String) -> String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-misplaced-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body { folder.appending(path: $0).path }
    }

    private func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    // MARK: Configuration

    /// A text in double quotes, as YAML and JSON have it.
    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar -> String in
            if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
            guard scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) else { return String(scalar) }
            return "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
        }
        return "\"\(escaped.joined())\""
    }

    /// Configurations with a text in the place of values and names, and as it may be pasted.
    ///
    /// `inAllPlaces`: whether two of them have it in every place at once, which takes most of the time.
    private static func documents(_ text: String, inAllPlaces: Bool) -> [String] {
        let value = quoted(text)
        let issuer = "57246542-96fe-1a63-e053-0824d011072a"
        let everywhere = """
            store: \(value)
            log: { level: \(value) }
            masterKey: { file: \(value), credential: \(value), allowGroupReadable: \(value) }
            storePassword: { file: \(value), credential: \(value) }
            audit: { directory: \(value), retention: \(value) }
            listeners:
              api: { address: \(value), group: \(value), mode: \(value), trustedProxies: [\(value)], tls: { privateKey: \(value) } }
              health: { address: "none", tls: { certificateChain: \(value), clientCertificates: \(value) } }
            apple:
              rootCertificates: [\(value)]
              proxy: \(value)
              upstream: { production: \(value), sandbox: \(value) }
              connectTimeout: \(value)
            apps:
              \(value): { bundleId: \(value), appAppleId: \(value), ignoredTokens: [\(value)], environments: [\(value)] }
              coins:
                bundleId: com.example.coins
                environments: [Sandbox]
                refundPolicy: { \(value): \(value), rules: [{ name: \(value), when: { product: \(value) }, \(value): 1 }] }
            keys:
              - { id: \(value), issuer: \(value), file: \(value), apps: [\(value)], state: \(value) }
              - { id: \(value), issuer: \(issuer), credential: \(value), apps: [coins], \(value): 1 }
              - { id: \(value), issuer: \(issuer), file: /a, apps: [coins] }
            keyDirectories: [{ path: \(value), issuer: \(value), apps: [coins], allowGroupReadable: \(value) }]
            keyWarnings: { maximumAge: \(value) }
            callers:
              \(value): { tokenSHA256: \(value), scopes: { \(value): [\(value)], coins: [\(value)] }, uids: [\(value)] }
              other: { tokenSHA256: \(value), clientCertificates: [\(value)], callsPerHour: \(value), scopes: {} }
            callbacks: { allowedHosts: [\(value)], allowedNetworks: [\(value)], certificateAuthorityFile: \(value) }
            receipts: { keepRaw: \(value) }
            \(value): \(value)

            """
        let indented = text.replacing("\n", with: "\n      ")
        return (inAllPlaces ? [everywhere, everywhere.replacing(value, with: text)] : []) + [
            ConfigurationFixture.minimal.replacing("/etc/purser/coins.p8", with: "|\n      \(indented)"),
            ConfigurationFixture.minimal.replacing("/etc/purser/coins.p8", with: text),
            ConfigurationFixture.minimal.replacing("2X9R4HXF34", with: text),
            ConfigurationFixture.minimal + text, text, "\(value): { \(value): 1, \(value): 2 }\n",
        ]
    }

    private func complaints(
        _ yaml: String, flags: ConfigurationFlags = ConfigurationFlags(), environment: [String: String] = [:]
    ) -> String {
        do throws(ConfigurationError) {
            let configuration = try DaemonConfiguration.parse(
                yaml: yaml, file: "purser.yaml", flags: flags, environment: environment)
            return configuration.warnings.map(\.description).joined(separator: "\n")
        } catch {
            return "\(error)\n\(String(reflecting: error))"
        }
    }

    @Test func `errors of the configuration quote nothing of a key in any place`() throws {
        let (keys, traces) = try MutilatedKey.all(seed: 11, rounds: Self.rounds)
        #expect(keys.count >= 300)
        var complained = 0
        for (index, key) in keys.enumerated() {
            // Seven divides no number of kinds, so that all of them have their turn.
            let inAllPlaces = index.isMultiple(of: 7)
            for (number, document) in Self.documents(key.text, inAllPlaces: inAllPlaces).enumerated() {
                let text = complaints(document)
                complained += text.isEmpty ? 0 : 1
                let found = traces.findings(in: text)
                #expect(found.isEmpty, "\(found.sorted()) in document \(number), \(key.kind)")
            }
            let flags = complaints(
                ConfigurationFixture.minimal, flags: ConfigurationFlags(store: key.text, logLevel: key.text))
            let variables = complaints(
                ConfigurationFixture.minimal,
                environment: [
                    "PURSER_STORE": key.text, "PURSER_LISTENERS_API_ADDRESS": key.text, "PURSER_APPLE_PROXY": key.text,
                ])
            for text in [flags, variables] {
                #expect(traces.findings(in: text).isEmpty, "flags or variables, \(key.kind)")
            }
        }
        #expect(complained > keys.count * 4)
    }

    @Test func `a short value that cannot be a secret is quoted, and what may be one is not`() {
        for text in [
            "keys/coins.p8", "verbose", "127.0.0.1:99999", "57246542-96fe-1a63-e053-0824d011072a", "5 minutes",
        ] {
            #expect(QuotableText.isQuotable(text), "\(text)")
        }
        let secrets = [
            "-----BEGIN PRIVATE KEY-----", "x -----end x", "prs_short", "see prs_abc",
            String(repeating: "0aF9", count: 10),
            String(repeating: "a b ", count: 17), "postgres://purser:open/sesame@db/store", "host=db password=sesame",
            "a\nb", String(repeating: "0a:", count: 14), String(repeating: "aB3-_", count: 8),
        ]
        for text in secrets { #expect(!QuotableText.isQuotable(text), "\(text)") }
    }

    @Test func `a token in the place of a name is not quoted, and its place is told`() throws {
        let token = "prs_\(String(repeating: "x1Y2", count: 14))"
        let yaml = ConfigurationFixture.minimal + "callers: { \(token): { scopes: { \(token): [] } } }\n"
        let problems = ConfigurationFixture.problems(yaml)
        #expect(problems.contains { $0.origin.line == 14 && $0.key.hasPrefix("callers.(not shown)") })
        for problem in problems { #expect(!problem.description.contains("x1Y2")) }
    }

    // MARK: Files

    @Test func `TLS files and certificates quote nothing of a key`() async throws {
        let (keys, traces) = try MutilatedKey.all(seed: 12, rounds: Self.rounds)
        try await withFolder { path in
            try TestAuthority().server().write(chain: path("chain.pem"), key: path("key.pem"))
            var texts: [String] = []
            func check(chain: String = path("chain.pem"), key: String = path("key.pem"), authorities: String? = nil) {
                let tls = ListenerTLS(
                    certificateChainFile: chain, privateKeyFile: key,
                    clientCertificates: authorities.map { .init(authoritiesFile: $0, isRequired: true) })
                do throws(ListenerError.Reason) {
                    try tls.check()
                } catch {
                    let whole = ListenerError(listener: "api", address: .tcp(host: "127.0.0.1", port: 0), reason: error)
                    texts.append("\(whole) \(String(reflecting: whole))")
                }
            }
            for key in keys {
                let file = path("misplaced")
                try write(key.bytes, to: file)
                check(key: file)
                check(chain: file)
                check(authorities: file)
                do throws(FileError) { _ = try Files.certificate(file) } catch { texts.append("\(error)") }
                do throws(FileError) { try Files.checkAuthorities(file) } catch { texts.append("\(error)") }
            }
            #expect(texts.count >= keys.count * 4)
            for text in texts { #expect(traces.findings(in: text).isEmpty, "\(text)") }
        }
    }

    // MARK: Callers' keys

    @Test func `a private key that is uploaded as a public one is refused and nothing of it is quoted or kept`()
        async throws
    {
        let (keys, traces) = try MutilatedKey.all(seed: 13, rounds: Self.rounds)
        let (store, audit, log) = (InMemoryCallerStore(), RememberedAudit(), RecordedLog())
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let service = CallerKeyService(
            issuerID: "11111111-2222-3333-4444-555555555555", store: store,
            registry: CallerRegistry(configured: [], now: { now }),
            apps: AppCatalog([App(slug: "coins", bundleID: "com.example.coins")]), audit: audit, now: { now },
            makeKeyID: CallerKey.randomID,
            decodePublicKey: { (try? ECPublicKey(pemRepresentation: $0))?.derRepresentation }, logger: log.logger)
        var texts: [String] = []
        var accepted = 0
        for (number, key) in keys.enumerated() {
            let request = CallerKeyService.Request(
                caller: "shop\(number)", app: "coins", publicKey: key.text, scopes: [.refundsRead])
            do throws(ServiceError) {
                texts.append("\(try await service.issue(request, by: .operator(uid: 501)))")
                accepted += 1
                #expect(key.kind == "public key")
            } catch {
                texts.append("\(error) \(String(reflecting: error))")
                #expect(key.kind != "one line" || error.violations.contains { $0.message.contains("is a private key") })
            }
        }
        #expect(accepted == Self.rounds)
        texts += log.lines.map { "\($0)" } + audit.acts.map { "\($0)" }
        texts += try await store.callerKeys().map { "\($0)" }
        for text in texts { #expect(traces.findings(in: text).isEmpty, "\(text)") }
    }

    // MARK: PostgreSQL

    @Test(arguments: [
        "postgres://purser:sesame@db/store", "postgres://purser:ses/ame@db/store",
        "postgres://purser:ses?ame=1&ame@db/store",
        "postgres://purser@db/store?password=sesame",
        "host=db user=purser password=sesame", "postgresql://purser:sesame@/store?host=/run",
    ])
    func `a password in the place of the database's URL is quoted by nobody`(url: String) {
        let problems = ConfigurationFixture.problems(
            ConfigurationFixture.minimal, flags: ConfigurationFlags(store: url), environment: [:])
        #expect(!problems.isEmpty)
        for problem in problems {
            #expect(!problem.description.contains("sesame") && !problem.description.contains("ame@"))
        }
        do throws(PostgresConfiguration.Malformed) {
            _ = try PostgresConfiguration(url: url)
            Issue.record("\(url) is taken")
        } catch {
            #expect(!error.reason.contains("sesame") && !error.reason.contains("ame@"))
        }
    }
}
