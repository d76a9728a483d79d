import Foundation
import Listener
import Logging
import NIOSSL
import OpenSSL
import TestSupport
import Testing

/// The certificates of clients, which a test issues while it runs.
@Suite(.endsHangs)
struct ClientCertificateTests {
    private static let billing = "spiffe://example.org/billing"

    /// A listener's files, and the authorities of servers and clients.
    struct Files: Sendable {
        let folder: URL
        let servers: TestAuthority
        let clients: TestAuthority
        var tls: ListenerTLS

        /// Lets a listener serve with them.
        @Sendable func configure(_ configuration: inout ListenerConfiguration) { configuration.tls = tls }

        init(isRequired: Bool = true) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "clients-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            servers = try TestAuthority("Servers")
            clients = try TestAuthority("Clients")
            tls = ListenerTLS(
                certificateChainFile: folder.appending(path: "chain.pem").path,
                privateKeyFile: folder.appending(path: "key.pem").path,
                clientCertificates: .init(
                    authoritiesFile: folder.appending(path: "clients.pem").path, isRequired: isRequired))
            try servers.server().write(chain: tls.certificateChainFile, key: tls.privateKeyFile)
            try write(authorities: [clients])
        }

        func write(authorities: [TestAuthority]) throws {
            let text = try authorities.map { try $0.certificate.pem() }.joined()
            try text.write(
                toFile: try #require(tls.clientCertificates).authoritiesFile, atomically: true, encoding: .utf8)
        }

        func remove() throws { try FileManager.default.removeItem(at: folder) }
    }

    /// What a client gets that shows a certificate: the answer, or nil where its connection ends without one.
    static func asked(
        _ fixture: ListenerFixture, trusting servers: TestAuthority, showing shown: IssuedCertificate?
    ) async throws -> String? {
        let context = try IssuedCertificate.clientContext(trusting: servers, showing: shown)
        do {
            let client = try await fixture.connect(tls: context)
            try await client.request("GET", "/")
            return try await client.response().body
        } catch let error as WaitedInVain {
            throw error
        } catch {
            return nil
        }
    }

    /// A certificate and what a listener makes of it.
    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The answer; nil for no answer.
        let answer: String?
        /// What the log says of it; nil for nothing.
        let reason: String?
        let issue: @Sendable (TestAuthority) throws -> IssuedCertificate?

        init(
            _ name: String, _ answer: String?, _ reason: String? = nil,
            _ issue: @escaping @Sendable (TestAuthority) throws -> IssuedCertificate?
        ) {
            testDescription = name
            self.answer = answer
            self.reason = reason
            self.issue = issue
        }
    }

    private static let handshake = "A TLS handshake failed"
    private static let refused = "Refused a client's certificate"

    static let samples = [
        Sample("a SPIFFE ID", "- [\(billing)]") { try $0.client([billing]) },
        Sample("an intermediate that the client sends", "- [\(billing)]") { try $0.intermediate().client([billing]) },
        Sample("two intermediates", "- [\(billing)]") {
            try $0.intermediate("First").intermediate("Second").client([billing])
        },
        Sample("several URIs, in their order", "- [urn:b https://a.example]") {
            try $0.client(["urn:b", "https://a.example"])
        },
        Sample("names that are no URIs", "- []") {
            try $0.client([]) { $0.alternativeNames = [.dns("billing.example"), .ipAddress("10.0.0.1")] }
        },
        Sample("no names", "- []") { try $0.client([]) },
        Sample("no extended key usage", "- [\(billing)]") { try $0.client([billing]) { $0.extendedKeyUsage = [] } },
        Sample("both purposes", "- [\(billing)]") {
            try $0.client([billing]) { $0.extendedKeyUsage = [.serverAuthentication, .clientAuthentication] }
        },
        Sample("none at all", nil, handshake) { _ in nil },
        Sample("an intermediate that the client leaves out", nil, handshake) {
            var issued = try $0.intermediate().client([billing])
            issued.intermediates = []
            return issued
        },
        Sample("expired", nil, handshake) {
            try $0.client([billing]) { $0.notAfter = Date.now.addingTimeInterval(-60) }
        },
        Sample("not valid yet", nil, handshake) {
            try $0.client([billing]) { $0.notBefore = Date.now.addingTimeInterval(3_600) }
        },
        Sample("another authority of the same name", nil, handshake) { _ in
            try TestAuthority("Clients").client([billing])
        },
        Sample("for servers only", nil, handshake) {
            try $0.client([billing]) { $0.extendedKeyUsage = [.serverAuthentication] }
        },
        Sample("signed by its own key", nil, handshake) { _ in try TestAuthority.selfSignedClient([billing]) },
        Sample("two SPIFFE IDs", nil, refused) { try $0.client([billing, "spiffe://example.org/support"]) },
        Sample("a SPIFFE ID and another URI", nil, refused) { try $0.client(["https://a.example", "SPIFFE://b/c"]) },
        Sample("a name with a space", nil, refused) { try $0.client(["urn:a b"]) },
        Sample("a name with a zero byte", nil, refused) { try $0.client(["\(billing)\0.example"]) },
        Sample("an authority's", nil, refused) {
            try $0.client([billing]) {
                $0.basicConstraints = .certificateAuthority(pathLength: nil)
                $0.keyUsage = [.digitalSignature, .certificateSigning]
            }
        },
        Sample("one whose key signs certificates", nil, refused) {
            try $0.client([billing]) { $0.keyUsage = [.digitalSignature, .certificateSigning] }
        },
    ]

    @Test(arguments: samples)
    func `a certificate says who a client is, or the client is refused`(sample: Sample) async throws {
        let files = try Files()
        let log = RecordedLog()
        try await ListenerFixture.with(
            files.configure, logger: log.logger, answering: PeerCredentialTests.tellingPeer
        ) { fixture in
            let shown = try sample.issue(files.clients)
            #expect(try await Self.asked(fixture, trusting: files.servers, showing: shown) == sample.answer)
        }
        let said = log.lines.filter { $0.level >= .info }.map(\.message).filter {
            [Self.handshake, Self.refused].contains($0)
        }
        #expect(said == (sample.reason.map { [$0] } ?? []))
        // No name, key or certificate of anybody's is logged.
        #expect(!log.lines.contains { $0.metadata.values.contains { $0.contains("example") || $0.contains("BEGIN") } })
        try files.remove()
    }

    @Test func `where certificates are optional, none is no obstacle, and a wrong one is`() async throws {
        let files = try Files(isRequired: false)
        try await ListenerFixture.with(
            files.configure, answering: PeerCredentialTests.tellingPeer
        ) { fixture in
            let right = try files.clients.client([Self.billing])
            let wrong = try TestAuthority("Others").client([Self.billing])
            #expect(try await Self.asked(fixture, trusting: files.servers, showing: nil) == "- -")
            #expect(try await Self.asked(fixture, trusting: files.servers, showing: right) == "- [\(Self.billing)]")
            #expect(try await Self.asked(fixture, trusting: files.servers, showing: wrong) == nil)
        }
        try files.remove()
    }

    @Test func `all requests of a connection have its certificate`() async throws {
        let files = try Files()
        try await ListenerFixture.with(
            files.configure, answering: PeerCredentialTests.tellingPeer
        ) { fixture in
            let shown = try files.clients.client([Self.billing])
            let context = try IssuedCertificate.clientContext(trusting: files.servers, showing: shown)
            let client = try await fixture.connect(tls: context)
            for _ in 0..<3 {
                try await client.request("GET", "/")
                #expect(try await client.response().body == "- [\(Self.billing)]")
            }
        }
        try files.remove()
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `a file without authorities stops the listener by name`(text: String) async throws {
        let files = try Files()
        let file = try #require(files.tls.clientCertificates).authoritiesFile
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let error = #expect(throws: ListenerError.Reason.self) { try files.tls.check() }
        guard case .authoritiesUnusable(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains(file))
        // Nor is a client's certificate one.
        try files.clients.client([Self.billing]).chainText().write(toFile: file, atomically: true, encoding: .utf8)
        #expect(
            throws: ListenerError.Reason.authoritiesUnusable(
                "\(file) holds the certificate of something else: CN = client")
        ) {
            try files.tls.check()
        }
        try files.remove()
    }
}
