import Foundation
import Listener
import Logging
import NIOSSL
import TestSupport
import Testing

/// Certificates, keys and authorities that are replaced while a listener serves.
@Suite(.endsHangs)
struct CertificateRefreshTests {
    private static let billing = "spiffe://example.org/billing"

    private func withListener(
        _ files: ClientCertificateTests.Files, _ log: RecordedLog = RecordedLog(),
        _ test: @Sendable (ListenerFixture, ListenerCertificates) async throws -> Void
    ) async throws {
        try await ListenerFixture.with(
            files.configure, logger: log.logger, answering: PeerCredentialTests.tellingPeer
        ) { fixture in
            try await test(fixture, try #require(fixture.certificates))
        }
        try files.remove()
    }

    private func isServed(
        _ fixture: ListenerFixture, trusting servers: TestAuthority, _ clients: TestAuthority
    ) async throws -> Bool {
        let shown = try clients.client([Self.billing])
        return try await ClientCertificateTests.asked(fixture, trusting: servers, showing: shown)
            == "- [\(Self.billing)]"
    }

    @Test func `new authorities count for new connections, and open ones end`() async throws {
        let files = try ClientCertificateTests.Files()
        let others = try TestAuthority("Other clients")
        try await withListener(files) { fixture, certificates in
            let context = try IssuedCertificate.clientContext(
                trusting: files.servers, showing: try files.clients.client([Self.billing]))
            let open = try await fixture.connect(tls: context)
            try await open.request("GET", "/")
            _ = try await open.response()
            #expect(try await !isServed(fixture, trusting: files.servers, others))

            // Nothing has changed: the connection stays.
            await certificates.refresh()
            try await open.request("GET", "/")
            _ = try await open.response()

            // Both for a while, then the new one alone.
            try files.write(authorities: [files.clients, others])
            await certificates.refresh()
            #expect(try await open.end().isEmpty)
            #expect(try await isServed(fixture, trusting: files.servers, files.clients))
            #expect(try await isServed(fixture, trusting: files.servers, others))
            try files.write(authorities: [others])
            await certificates.refresh()
            #expect(try await !isServed(fixture, trusting: files.servers, files.clients))
            #expect(try await isServed(fixture, trusting: files.servers, others))
            #expect(certificates.status?.problem == nil)
        }
    }

    /// What OpenSSL's own client gets, which keeps its session in a file.
    private func askedBySessionClient(
        _ fixture: ListenerFixture, _ files: ClientCertificateTests.Files, _ options: [String]
    ) async throws -> String {
        guard case .tcp(let host, let port) = fixture.address else { throw CancellationError() }
        return try await ChildProcess.run(
            [
                "openssl", "s_client", "-connect", "\(host):\(port)", "-ign_eof",
                "-cert", files.folder.appending(path: "client.pem").path,
                "-key", files.folder.appending(path: "client.key").path,
            ] + options,
            input: "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        ).output
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a session is resumed with its certificate, and not beyond the authorities`(version: String) async throws {
        let files = try ClientCertificateTests.Files()
        let others = try TestAuthority("Other clients")
        try files.clients.client([Self.billing]).write(
            chain: files.folder.appending(path: "client.pem").path, key: files.folder.appending(path: "client.key").path
        )
        let session = files.folder.appending(path: "session").path
        try await withListener(files) { fixture, certificates in
            let first = try await askedBySessionClient(fixture, files, [version, "-sess_out", session])
            #expect(first.contains("[\(Self.billing)]"))
            #expect(first.contains("New, TLS"))
            let second = try await askedBySessionClient(fixture, files, [version, "-sess_in", session])
            #expect(second.contains("[\(Self.billing)]"))
            #expect(second.contains("Reused, TLS"))
            try files.write(authorities: [others])
            await certificates.refresh()
            let third = try await askedBySessionClient(fixture, files, [version, "-sess_in", session])
            #expect(!third.contains("HTTP/1.1"))
            #expect(!third.contains("Reused, TLS"))
        }
    }

    @Test func `a new certificate of the server is shown to new connections, and open ones stay`() async throws {
        let files = try ClientCertificateTests.Files()
        let servers = try TestAuthority("Other servers")
        let log = RecordedLog()
        try await withListener(files, log) { fixture, certificates in
            let context = try IssuedCertificate.clientContext(
                trusting: files.servers, showing: try files.clients.client([Self.billing]))
            let open = try await fixture.connect(tls: context)
            try await open.request("GET", "/")
            #expect(try await open.response().status == 200)
            try servers.server().write(chain: files.tls.certificateChainFile, key: files.tls.privateKeyFile)
            await certificates.refresh()
            #expect(try await isServed(fixture, trusting: servers, files.clients))
            #expect(try await !isServed(fixture, trusting: files.servers, files.clients))
            try await open.request("GET", "/")
            #expect(try await open.response().status == 200)
        }
        #expect(log.lines("TLS files replaced").count == 1)
    }

    /// Ways to spoil the files.
    @Test func `a certificate that ends is warned of once before that, and once when it has ended`() async throws {
        let log = RecordedLog()
        try await withListener(try ClientCertificateTests.Files(), log) { _, certificates in
            let end = try #require(certificates.status?.notAfter)
            for days in [-20, -13, -12, 1, 2] {
                certificates.warnOfEnd(at: end.addingTimeInterval(TimeInterval(days * 86_400)))
            }
        }
        let warnings = log.lines("The certificate")
        #expect(warnings.map(\.level) == [.warning, .error])
        #expect(
            warnings.map(\.message) == ["The certificate ends soon", "The certificate has ended; clients refuse it"])
    }

    enum Fault: String, CaseIterable {
        case noChain, otherKey, openKey, noAuthorities, noFile
    }

    @Test(arguments: Fault.allCases)
    func `files of no use change nothing, are told of once, and are mended`(fault: Fault) async throws {
        let files = try ClientCertificateTests.Files()
        let (tls, authorities) = (files.tls, try #require(files.tls.clientCertificates).authoritiesFile)
        let log = RecordedLog()
        try await withListener(files, log) { fixture, certificates in
            switch fault {
            case .noChain: try "".write(toFile: tls.certificateChainFile, atomically: true, encoding: .utf8)
            case .otherKey:
                try files.servers.server().privateKey.write(
                    toFile: tls.privateKeyFile, atomically: false, encoding: .utf8)
            case .openKey:
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: tls.privateKeyFile)
            case .noAuthorities: try "nothing".write(toFile: authorities, atomically: true, encoding: .utf8)
            case .noFile: try FileManager.default.removeItem(atPath: authorities)
            }
            for _ in 0..<3 { await certificates.refresh() }
            #expect(try await isServed(fixture, trusting: files.servers, files.clients))
            #expect(certificates.status?.problem?.contains(files.folder.path) == true)
            let warnings = log.lines.filter { $0.level == .warning }
            #expect(
                warnings.map(\.message) == [
                    "TLS files have changed and cannot be used; the ones before go on being used"
                ])

            try files.servers.server().write(chain: tls.certificateChainFile, key: tls.privateKeyFile)
            try files.write(authorities: [files.clients])
            await certificates.refresh()
            #expect(certificates.status?.problem == nil)
            #expect(try await isServed(fixture, trusting: files.servers, files.clients))
        }
        #expect(!log.lines.contains { line in line.metadata.values.contains { $0.contains("PRIVATE KEY") } })
    }
}
