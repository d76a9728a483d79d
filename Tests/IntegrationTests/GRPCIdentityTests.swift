import Foundation
import JSON
import Listener
import OpenSSL
import TestSupport
import Testing

@testable import GRPCAPI

/// Who calls by gRPC: a token, a certificate, the user of a process; the same as at the listener `api`.
@Suite(.endsHangs)
struct GRPCIdentityTests {
    private static let billing = "spiffe://example.org/billing"

    private func purser(_ arguments: [String]) async throws {
        let outcome = try await DaemonStage.purser(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.output) \(outcome.errorOutput)")
    }

    @Test func `a caller by its certificate, and TLS for everybody`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grpc-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        func path(_ name: String) -> String { folder.appending(path: name).path }
        let (servers, clients) = (try TestAuthority("Servers"), try TestAuthority("Clients"))
        try servers.server().write(chain: path("chain.pem"), key: path("key.pem"))
        try clients.certificate.pem().write(toFile: path("clients.pem"), atomically: true, encoding: .utf8)
        try servers.certificate.pem().write(toFile: path("servers.pem"), atomically: true, encoding: .utf8)
        try clients.client([Self.billing]).write(chain: path("client.pem"), key: path("client.key"))
        var options = DaemonFixture.Options()
        options.hasDoors = true
        options.grpcTLS = ListenerTLS(
            certificateChainFile: path("chain.pem"), privateKeyFile: path("key.pem"),
            clientCertificates: .init(authoritiesFile: path("clients.pem"), isRequired: false),
            applicationProtocol: "h2")
        let (authorities, identity) = (path("servers.pem"), (chain: path("client.pem"), key: path("client.key")))
        try await DaemonFixture.with(options) { fixture in
            func code(token: String?, identity: (chain: String, key: String)?) async throws -> String {
                try await GRPCProbe.with(fixture.grpc, token: token, authorities: authorities, identity: identity) {
                    try await $0.call("ListApps", "{}", timeout: Wait.limit).code
                }
            }
            #expect(try await code(token: DaemonFixture.token, identity: nil) == "OK")
            #expect(try await code(token: nil, identity: nil) == "UNAUTHENTICATED")
            #expect(try await code(token: nil, identity: identity) == "UNAUTHENTICATED")
            try await purser([
                "callers", "add", "shop", "--app", "coins", "--scope", "refunds:read", "--certificate", Self.billing,
                "--socket", fixture.adminSocket,
            ])
            #expect(try await code(token: nil, identity: identity) == "OK")
            #expect(try await code(token: "prs_wrong", identity: identity) == "UNAUTHENTICATED")
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `a caller by the user of its process, at a program of its own`() async throws {
        try await DaemonStage.with { stage in
            let daemon = try await stage.start()
            let address = BoundAddress.unix(path: stage.socket("grpc"))
            try await GRPCProbe.with(address, token: nil) { grpc in
                let stranger = try await grpc.answered("ListApps", "{}")
                #expect(stranger.code == "UNAUTHENTICATED", "\(stranger.message)")
                try await purser([
                    "callers", "add", "shop", "--app", "coins", "--scope", "refunds:read", "--uid", "\(geteuid())",
                    "--socket", stage.socket("admin"),
                ])
                #expect(try await grpc.answered("ListApps", "{}").code == "OK")
            }
            // The same by the program.
            let place = ["--address", "unix:\(stage.socket("grpc"))"]
            let apps = try await DaemonStage.program(["call", "ListApps"] + place)
            #expect(apps.status == 0 && apps.output.contains(#""coins""#), "\(apps.errorOutput)")
            let cases = try await DaemonStage.program(["call", "ListCases", #"{"app":"coins"}"#] + place)
            #expect(cases.status == 1 && cases.output.isEmpty)
            #expect(cases.errorOutput.hasPrefix("PERMISSION_DENIED: ") && cases.errorOutput.contains("MISSING_SCOPE"))
            #expect(try await DaemonStage.program(["call", "Nothing"] + place).status == 65)
            // A misspelt word must not become a wider question.
            for (request, word) in [(#"{"ap":"coins"}"#, "`ap`"), (#"{"app":"coins","state":["opne"]}"#, "`opne`")] {
                let misspelt = try await DaemonStage.program(["call", "ListCases", request] + place)
                #expect(misspelt.status == 65 && misspelt.errorOutput.contains(word), "\(misspelt)")
            }
            let token = stage.folder.appending(path: "token").path
            try Data("prs_secret".utf8).write(to: URL(filePath: token))
            let clear = try await DaemonStage.program(
                ["call", "ListApps", "--address", "purser.example:8082", "--token-file", token])
            #expect(clear.status == 65 && clear.errorOutput.contains("without TLS"), "\(clear.errorOutput)")
            try await GRPCProbe.with(address, token: DaemonStage.callers["billing"]) { grpc in
                let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
                let listed = try await grpc.answered(
                    "ListDeliveries", #"{"app":"coins"}"#, ["traceparent": trace, "x-request-id": "here-1"])
                #expect(listed.code == "OK")
            }
            #expect(try await daemon.terminate() == 0)
            let line = try #require(
                daemon.log.text.split(separator: "\n").first {
                    $0.contains("here-1") && $0.contains("Request answered")
                })
            for text in ["0af7651916cd43dd8448eb211c80319c", "billing", "/v1/apps/{app}/deliveries", "grpc"] {
                #expect(line.contains(text), "\(text) in \(line)")
            }
        }
    }

    @Test func `a socket may be the service manager's`() async throws {
        try await DaemonStage.with { stage in
            let socket = try UnixSocket.bound(to: stage.socket("grpc"))
            defer { close(socket) }
            let daemon = try stage.launch(sockets: [("grpc", socket)])
            #expect(try await daemon.isReady, "\(daemon.log.text.suffix(2000))")
            try await GRPCProbe.with(.unix(path: stage.socket("grpc")), token: DaemonStage.callers["billing"]) { grpc in
                let apps = try await grpc.answered("ListApps", "{}")
                #expect(apps.code == "OK", "\(apps.message)")
            }
            #expect(try await daemon.terminate() == 0)
            #expect(FileManager.default.fileExists(atPath: stage.socket("grpc")), "its giver's, and stays")
        }
    }
}
