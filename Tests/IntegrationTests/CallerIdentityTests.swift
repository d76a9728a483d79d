import Foundation
import JSON
import Listener
import OpenSSL
import TestSupport
import Testing

/// Callers that a connection proves, from the socket to the answer: a certificate, and the user of a process.
@Suite(.endsHangs)
struct CallerIdentityTests {
    private static let billing = "spiffe://example.org/billing"

    /// A listener's files, and the authorities of servers and clients.
    private struct Files: Sendable {
        let folder = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString.prefix(8))")
        let servers: TestAuthority
        let clients: TestAuthority

        init() throws {
            servers = try TestAuthority("Servers")
            clients = try TestAuthority("Clients")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try servers.server().write(chain: path("chain.pem"), key: path("key.pem"))
            try write(authority: clients)
            try servers.certificate.pem().write(toFile: path("servers.pem"), atomically: true, encoding: .utf8)
        }

        func path(_ name: String) -> String { folder.appending(path: name).path }

        func write(authority: TestAuthority) throws {
            try authority.certificate.pem().write(toFile: path("clients.pem"), atomically: true, encoding: .utf8)
        }

        var tls: ListenerTLS {
            ListenerTLS(
                certificateChainFile: path("chain.pem"), privateKeyFile: path("key.pem"),
                clientCertificates: .init(authoritiesFile: path("clients.pem"), isRequired: false))
        }

        /// What a client gets at the api listener that shows a certificate, by another TLS library than the daemon's: the status,
        /// or `none` for no answer.
        func asked(_ api: String, showing shown: IssuedCertificate?, token: String? = nil) async throws -> String {
            let program = """
                import http.client, ssl, sys
                port, authority, certificate, key, token = sys.argv[1:]
                context = ssl.create_default_context(cafile=authority)
                if certificate: context.load_cert_chain(certificate, key)
                connection = http.client.HTTPSConnection("localhost", int(port), context=context)
                try:
                    connection.request("GET", "/v1/apps", headers={"Authorization": token} if token else {})
                    answer = connection.getresponse()
                    print(answer.status, "coins" if b"coins" in answer.read() else "", end="")
                except (ssl.SSLError, ConnectionError, http.client.HTTPException): print("none", end="")
                """
            let (certificate, key) = (path("client-\(UUID().uuidString).pem"), path("client-\(UUID().uuidString).key"))
            try shown?.write(chain: certificate, key: key)
            let port = try #require(api.split(separator: ":").last.map(String.init))
            let run = try await ChildProcess.run([
                "/usr/bin/python3", "-c", program, port, path("servers.pem"), shown == nil ? "" : certificate, key,
                token.map { "Bearer \($0)" } ?? "",
            ])
            return run.output.trimmingCharacters(in: .whitespaces)
        }

        func remove() throws { try FileManager.default.removeItem(at: folder) }
    }

    private func purser(_ arguments: [String]) async throws {
        let outcome = try await DaemonStage.purser(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.output) \(outcome.errorOutput)")
    }

    @Test func `a caller by its certificate, bound and unbound while the daemon serves`() async throws {
        let files = try Files()
        try await DaemonFixture.with(DaemonFixture.Options(apiTLS: files.tls)) { fixture in
            let (right, other) = (try files.clients.client([Self.billing]), try files.clients.client(["urn:other"]))
            let socket = ["--socket", fixture.adminSocket]
            #expect(try await files.asked(fixture.api, showing: right) == "401")
            try await purser(
                ["callers", "add", "shop", "--app", "coins", "--scope", "refunds:read", "--certificate", Self.billing]
                    + socket)
            #expect(try await files.asked(fixture.api, showing: right) == "200 coins")
            #expect(try await files.asked(fixture.api, showing: other) == "401")
            #expect(try await files.asked(fixture.api, showing: nil) == "401")
            let foreign = try TestAuthority("Clients").client([Self.billing])
            #expect(try await files.asked(fixture.api, showing: foreign) == "none")
            // A token decides alone, right or wrong.
            #expect(try await files.asked(fixture.api, showing: nil, token: DaemonFixture.token) == "200 coins")
            #expect(try await files.asked(fixture.api, showing: right, token: "prs_wrong") == "401")
            try await purser(["callers", "unbind", "shop", "--certificate", Self.billing] + socket)
            #expect(try await files.asked(fixture.api, showing: right) == "401")
        }
        try files.remove()
    }

    @Test func `authorities are replaced while the daemon serves, and its health tells of files of no use`()
        async throws
    {
        let files = try Files()
        let others = try TestAuthority("Other clients")
        try await DaemonFixture.with(DaemonFixture.Options(apiTLS: files.tls)) { fixture in
            let socket = ["--socket", fixture.adminSocket]
            try await purser(
                ["callers", "add", "shop", "--app", "coins", "--scope", "refunds:read", "--certificate", Self.billing]
                    + socket)
            let (old, new) = (try files.clients.client([Self.billing]), try others.client([Self.billing]))
            #expect(try await files.asked(fixture.api, showing: old) == "200 coins")
            let admin = LocalClient(socket: fixture.adminSocket)
            func detail() async throws -> (isHealthy: JSONValue?, text: String) {
                let report = try #require(await admin.send("GET", "/healthz")?.json)
                let part = try #require(report["parts"]?.array?.first { $0["name"]?.string == "tls:api" })
                return (part["healthy"], part["detail"]?.string ?? "")
            }
            #expect(try await detail().text.hasPrefix("the certificate is valid until "))

            try "nothing".write(toFile: files.path("clients.pem"), atomically: true, encoding: .utf8)
            try await Wait.until("the daemon to look at its files") {
                try await detail().text.contains("what was there before is used")
            }
            #expect(try await detail().text.contains(files.path("clients.pem")))
            #expect(try await files.asked(fixture.api, showing: old) == "200 coins")

            try files.write(authority: others)
            try await Wait.until("the new authorities to count") {
                try await detail().text.hasPrefix("the certificate is valid until ")
            }
            #expect(try await files.asked(fixture.api, showing: old) == "none")
            #expect(try await files.asked(fixture.api, showing: new) == "200 coins")
        }
        try files.remove()
    }

    @Test func `a caller by the user of its process`() async throws {
        try await DaemonStage.with { stage in
            let daemon = try await stage.start()
            let admin = ["--socket", stage.folder.appending(path: "admin.sock").path]
            let api = LocalClient(socket: stage.folder.appending(path: "api.sock").path)
            #expect(await api.send("GET", "/v1/apps")?.status == 401)
            try await purser(
                ["callers", "add", "shop", "--app", "coins", "--scope", "refunds:read", "--uid", "\(geteuid())"] + admin
            )
            #expect(await api.send("GET", "/v1/apps")?.status == 200)
            #expect(await stage.api().send("GET", "/v1/apps")?.status == 200)
            try await purser(["callers", "unbind", "shop", "--uid", "\(geteuid())"] + admin)
            #expect(await api.send("GET", "/v1/apps")?.status == 401)
            // A member of the process's group is the next to count.
            try await purser(["callers", "bind", "shop", "--gid", "\(getegid())"] + admin)
            #expect(await api.send("GET", "/v1/apps")?.status == 200)
            #expect(try await daemon.terminate() == 0)
            let served = daemon.log.text.split(separator: "\n").filter {
                $0.contains("\"listener\":\"api\"") && $0.contains("\"status\":200")
            }
            #expect(served.filter { $0.contains("\"caller\":\"shop\"") }.count == 2)
            #expect(served.filter { $0.contains("\"caller\":\"billing\"") }.count == 1)
        }
    }
}
