import Domain
import Foundation
import KeyCustody
import Listener
import TestSupport
import Testing

@testable import Daemon

/// Files that the configuration or a command names, and that are none.
@Suite(.endsHangs)
struct HostileFileTests {
    /// A folder with a pipe in it that nobody writes.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: "purser-pipes-\(UUID().uuidString)")

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            #expect(mkfifo(pipe, 0o600) == 0)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        var pipe: String { url.appending(path: "pipe").path }
        func path(_ name: String) -> String { url.appending(path: name).path }
    }

    @Test func `a pipe in the place of a certificate is refused without waiting`() throws {
        let folder = try Folder()
        let error = #expect(throws: FileError.self) { try Files.contents(of: folder.pipe, maximumBytes: 10) }
        #expect(error?.problem == "cannot be read: it is not a regular file")
        #expect(throws: FileError.self) { try Files.certificate(folder.pipe) }
        #expect(throws: FileError.self) { try Files.checkAuthorities(folder.pipe) }
        #expect(throws: FileError.self) { try Files.contents(of: "/dev/zero", maximumBytes: 10) }
    }

    @Test func `a pipe in the place of a TLS file is refused without waiting`() throws {
        let folder = try Folder()
        let authority = try TestAuthority("Servers")
        try authority.server().write(chain: folder.path("chain.pem"), key: folder.path("key.pem"))
        let (chain, key) = (folder.path("chain.pem"), folder.path("key.pem"))
        for tls in [
            ListenerTLS(certificateChainFile: folder.pipe, privateKeyFile: key),
            ListenerTLS(certificateChainFile: chain, privateKeyFile: folder.pipe),
            ListenerTLS(
                certificateChainFile: chain, privateKeyFile: key,
                clientCertificates: .init(authoritiesFile: folder.pipe, isRequired: true)),
        ] {
            let reason = #expect(throws: ListenerError.Reason.self) { try tls.check() }
            #expect(reason.map { "\($0)".contains("is not a regular file") } == true)
        }
    }

    @Test func `an import waits for a pipe's writer only as long as it is wanted`() async throws {
        let folder = try Folder()
        // Before there is a reader.
        #expect(throws: FileError.self) { try ImportReport(path: folder.pipe, tell: { _ in }) }
        let source = try ImportSource(folder.pipe)
        let bytes = try await source.next(while: { false })
        #expect(bytes.isEmpty)
    }

    @Test func `config check names a key directory that others can write, and the chmod`() throws {
        let folder = try Folder()
        #expect(mkdir(folder.path("keys"), 0o700) == 0)
        #expect(chmod(folder.path("keys"), 0o777) == 0)
        let directory = KeyDirectory(path: folder.path("keys"), issuerID: "i", apps: [], allowsGroupRead: false)
        let problem = try #require(KeyDirectory.problems(of: [directory], declared: []).first)
        #expect(problem.contains("chmod go-w \(folder.path("keys"))"))
        let configuration = DaemonConfiguration(
            store: .sqlite(path: folder.path("purser.db")), listeners: ListenersConfiguration(),
            apple: try ConfigurationFixture.configuration(ConfigurationFixture.minimal).apple,
            keyDirectories: [directory])
        let findings = DoctorFinding.secretFiles(of: configuration)
        #expect(findings.map(\.detail) == [problem], "doctor says the same")
        #expect(findings.allSatisfy { $0.verdict == .failure })
    }
}
