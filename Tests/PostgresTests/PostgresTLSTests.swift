import Foundation
import OpenSSL
import TestSupport
import Testing

@testable import Postgres

/// Over a network: the server proves who it is, and we what the password is.
@Suite(.needsPostgres)
struct PostgresTLSTests {
    private static func failure(_ configuration: PostgresConfiguration) async -> PostgresError? {
        let pool = PostgresPool(configuration, size: 1)
        defer { Task { await pool.shutdown() } }
        do {
            try await pool.withConnection { _ in }
            return nil
        } catch {
            return error as? PostgresError
        }
    }

    @Test func `only the server that is meant gets the password, and only the right one opens it`() async throws {
        let authority = try TestAuthority()
        let server = try await PostgresServer.start(certificate: authority.server())
        try await server.run("CREATE ROLE caller LOGIN PASSWORD 'open sesame'")
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ text: String) throws -> String {
            let file = folder.appending(path: name)
            try Data(text.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            return file.path
        }
        let roots = try file("roots.pem", authority.certificate.pem())
        var good = PostgresConfiguration(
            host: "localhost", port: try #require(server.port), database: "postgres", user: "caller",
            passwordFile: try file("right", "open sesame\n"), rootCertificates: roots)
        #expect(await Self.failure(good) == nil)

        var wrong = good
        wrong.passwordFile = try file("wrong", "open rye\n")
        let refused = await Self.failure(wrong)
        #expect(refused?.kind == .authentication)
        #expect(refused.map { "\($0)".contains("rye") } == false)
        wrong.passwordFile = nil
        #expect(await Self.failure(wrong)?.kind == .authentication)

        // Another authority's server, and one by another name.
        good.rootCertificates = try file("others.pem", TestAuthority("Others").certificate.pem())
        #expect(await Self.failure(good)?.kind == .connection)
        good.rootCertificates = roots
        good.host = "127.0.0.1"
        #expect(await Self.failure(good)?.kind == .connection)
        try await server.stop()
    }
}
