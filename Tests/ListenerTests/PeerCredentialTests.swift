import Foundation
import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import TestSupport
import Testing

/// The peers of a Unix socket, as the kernel tells them.
@Suite(.endsHangs)
struct PeerCredentialTests {
    /// Another user than root, who runs these tests in most places.
    private static let nobody: UInt32 = 65_534

    /// Answers who has connected.
    static let tellingPeer: Responder = {
        _, _, connection in
        let credentials = connection.peer.credentials
        let certificate = connection.peer.certificate
        let text =
            "\(credentials.map { "\($0.uid):\($0.gid)" } ?? "-") \(certificate.map { "[\($0.uris.joined(separator: " "))]" } ?? "-")"
        return Response(
            status: .ok, headers: [.contentLength: "\(text.utf8.count)"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private func asked(_ fixture: ListenerFixture) async throws -> String {
        let client = try await fixture.connect()
        try await client.request("GET", "/")
        return try await client.response().body
    }

    /// What a program of another user gets at a socket: the answer, or nothing where it may not connect.
    private func asked(_ path: String, as uid: UInt32, group: UInt32) async throws -> String {
        let program = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX)
            try: s.connect(sys.argv[1])
            except PermissionError: sys.exit(13)
            s.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
            data = b""
            while True:
                more = s.recv(4096)
                if not more: break
                data += more
            print(data.split(b"\\r\\n\\r\\n", 1)[1].decode(), end="")
            """
        let run = try await ChildProcess.run([
            "setpriv", "--reuid=\(uid)", "--regid=\(group)", "--clear-groups", "/usr/bin/python3", "-c", program, path,
        ])
        return run.status == 13 ? "may not" : run.output
    }

    @Test func `the kernel names who has connected, and nobody over TCP`() async throws {
        let path = ListenerFixture.temporaryPath()
        try await ListenerFixture.with(
            address: .unix(path: path, mode: 0o600), answering: Self.tellingPeer
        ) { fixture in
            let answer = try await asked(fixture)
            #expect(answer == "\(geteuid()):\(getegid()) -")
        }
        try await ListenerFixture.with(answering: Self.tellingPeer) { fixture in
            let answer = try await asked(fixture)
            #expect(answer == "- -")
        }
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can be another user"),
        arguments: [
            (0o600, nil, "may not"), (0o666, nil, "65534:65534 -"), (0o660, nil, "may not"),
            (0o660, "65534", "65534:65534 -"), (0o600, "65534", "may not"),
        ] as [(UInt16, String?, String)])
    func `others connect where mode and group let them, and are named`(
        mode: UInt16, group: String?, answer: String
    ) async throws {
        let path = ListenerFixture.temporaryPath()
        try await ListenerFixture.with(
            address: .unix(path: path, mode: mode), Self.inGroup(group), answering: Self.tellingPeer
        ) { fixture in
            let others = try await asked(path, as: Self.nobody, group: Self.nobody)
            #expect(others == answer)
            let own = try await asked(fixture)
            #expect(own == "\(geteuid()):\(getegid()) -")
        }
    }

    /// Gives the socket to a group.
    private static func inGroup(_ group: String?) -> (inout ListenerConfiguration) -> Void {
        { $0.socketGroup = group }
    }

    @Test func `a group is found by its name, and one that is not there stops the listener by name`() async throws {
        let path = ListenerFixture.temporaryPath()
        try await ListenerFixture.with(
            address: .unix(path: path, mode: 0o660), Self.inGroup(geteuid() == 0 ? "daemon" : "\(getegid())"),
            answering: Self.tellingPeer
        ) { _ in
            let owner = try FileManager.default.attributesOfItem(atPath: path)[.groupOwnerAccountID] as? Int
            #expect(owner == (geteuid() == 0 ? 1 : Int(getegid())))
        }
        let error = await #expect(throws: ListenerError.self) {
            try await ListenerFixture.with(
                address: .unix(path: path, mode: 0o660), Self.inGroup("no-such-group"),
                answering: Self.tellingPeer
            ) { _ in }
        }
        #expect(error?.reason == .noSuchGroup("no-such-group"))
        #expect(error?.description.contains("groupadd --system no-such-group") == true)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
