import Curl
import Foundation
import HummingbirdCore
import Listener
import NIOCore
import NIOPosix
import OpenSSL
import TestSupport
import Testing

/// TLS towards clients: real certificates, real libcurl.
@Suite(.endsHangs)
struct TLSTests {
    /// A certificate with its chain and key in files, and the authority that clients trust.
    private struct Files {
        let folder: URL
        let authority: String
        let tls: ListenerTLS

        init(keyMatches: Bool = true) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "listener-tls-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let dates = (from: Date.now.addingTimeInterval(-3_600), to: Date.now.addingTimeInterval(86_400))
            let rootKey = try IssuingKey(generating: .p256)
            let root = try CertificateBuilder.authority("Test root", notBefore: dates.from, notAfter: dates.to)
                .selfSigned(by: rootKey)
            let key = try IssuingKey(generating: .p256)
            let server = try CertificateBuilder.server([.dns("localhost")], notBefore: dates.from, notAfter: dates.to)
                .issued(to: key.subjectPublicKeyInfo(), by: root, key: rootKey)
            let shown = keyMatches ? key : try IssuingKey(generating: .p256)
            authority = folder.appending(path: "root.pem").path
            tls = ListenerTLS(
                certificateChainFile: folder.appending(path: "chain.pem").path,
                privateKeyFile: folder.appending(path: "key.pem").path)
            try root.pem().write(toFile: authority, atomically: true, encoding: .utf8)
            try server.pem().write(toFile: tls.certificateChainFile, atomically: true, encoding: .utf8)
            let pem = try shown.pkcs8PEM().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            try pem.write(toFile: tls.privateKeyFile, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tls.privateKeyFile)
        }

        func remove() throws { try FileManager.default.removeItem(at: folder) }
    }

    private static func withListener(
        _ tls: ListenerTLS, maximumBodyBytes: Int = 1024, test: @Sendable (ListenerFixture) async throws -> Void
    ) async throws {
        let configure = { (configuration: inout ListenerConfiguration) in
            configuration.tls = tls
            configuration.maximumBodyBytes = maximumBodyBytes
        }
        try await ListenerFixture.with(configure, test: test)
    }

    private static func withClient(
        trusting authority: String, _ body: (CurlClient) async throws -> Void
    ) async throws {
        var configuration = CurlConfiguration()
        configuration.certificateAuthorityFile = authority
        let client = try CurlClient(configuration: configuration)
        do {
            try await body(client)
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
    }

    /// A request that has all the time that a busy machine takes.
    private static func request(_ method: CurlRequest.Method, _ url: String, body: [UInt8]? = nil) -> CurlRequest {
        CurlRequest(method, url, body: body, connectTimeout: Wait.limit, totalTimeout: Wait.limit)
    }

    private static func url(_ address: BoundAddress) throws -> String {
        guard case .tcp(_, let port) = address else { throw CancellationError() }
        return "https://localhost:\(port)"
    }

    @Test func `a client that trusts the authority is served over TLS, with one connection for many requests`()
        async throws
    {
        let files = try Files()
        try await Self.withListener(files.tls) { fixture in
            let url = try Self.url(fixture.address)
            try await Self.withClient(trusting: files.authority) { client in
                for number in 0..<3 {
                    let response = try await client.perform(
                        Self.request(.put, "\(url)/\(number)", body: Array("body".utf8)))
                    #expect(response.status == 200)
                    #expect(String(decoding: response.body, as: UTF8.self) == "PUT /\(number) body")
                }
            }
        }
        try files.remove()
    }

    @Test func `a body over the limit is refused over TLS as well`() async throws {
        let files = try Files()
        try await Self.withListener(files.tls, maximumBodyBytes: 10) { fixture in
            let url = try Self.url(fixture.address)
            try await Self.withClient(trusting: files.authority) { client in
                let response = try await client.perform(
                    Self.request(.put, "\(url)/", body: [UInt8](repeating: 65, count: 11)))
                #expect(response.status == 413)
            }
        }
        try files.remove()
    }

    @Test func `plain HTTP gets no answer from a TLS listener`() async throws {
        let files = try Files()
        try await Self.withListener(files.tls) { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            #expect(try await !client.end().contains("HTTP/1.1"))
        }
        try files.remove()
    }

    /// The beginning of a record that holds the beginning of a ClientHello (RFC 8446 sections 4 and 5.1).
    private static let halfHello = "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}"

    @Test func `a handshake that stops half-way ends in its time`() async throws {
        let files = try Files()
        try await ListenerFixture.with {
            $0.tls = files.tls
            $0.firstRequestTimeout = .milliseconds(50)
        } test: { fixture in
            let client = try await fixture.connect()
            // On a busy machine its time may be over by now.
            try? await client.send(Self.halfHello)
            _ = try await client.end()
        }
        try files.remove()
    }

    @Test func `handshakes that stop half-way make room for those that go on, the oldest first`() async throws {
        let files = try Files()
        try await ListenerFixture.with {
            $0.tls = files.tls
            $0.maximumIncompleteConnections = 4
        } test: { fixture in
            var halves: [TestConnection] = []
            for _ in 0..<12 {
                halves.append(try await fixture.connect())
                try await halves.last?.send(Self.halfHello)
            }
            let url = try Self.url(fixture.address)
            try await Self.withClient(trusting: files.authority) { client in
                let response = try await client.perform(Self.request(.get, url))
                #expect(response.status == 200)
            }
            for half in halves[..<8] { _ = try await half.end() }
        }
        try files.remove()
    }

    @Test func `a client that trusts another authority is not served`() async throws {
        let (files, others) = (try Files(), try Files())
        try await Self.withListener(files.tls) { fixture in
            let url = try Self.url(fixture.address)
            try await Self.withClient(trusting: others.authority) { client in
                let error = await #expect(throws: CurlError.self) {
                    _ = try await client.perform(Self.request(.get, url))
                }
                #expect(error?.kind == .tls)
            }
        }
        try files.remove()
        try others.remove()
    }

    @Test func `a key of another certificate, that is not there or open to everybody, stops the listener by name`()
        async throws
    {
        let mismatched = try Files(keyMatches: false)
        var absent = try Files().tls
        absent.privateKeyFile += ".absent"
        let open = try Files().tls
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open.privateKeyFile)
        for tls in [mismatched.tls, absent, open] {
            var configuration = ListenerConfiguration(name: "door", address: .tcp(host: "127.0.0.1", port: 0))
            configuration.tls = tls
            let listener = Listener(
                configuration: configuration, answering: ListenerFixture.echo(behind: Gate()),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
            let error = await #expect(throws: ListenerError.self) { _ = try await listener.bind() }
            guard case .certificateUnusable = error?.reason else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(error?.description.contains("Listener door cannot listen") == true)
        }
        try mismatched.remove()
    }
}
