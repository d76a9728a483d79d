import Foundation
import HummingbirdCore
import Listener
import NIOPosix
import TestSupport
import Testing

@Suite(.endsHangs) struct BindingTests {
    private func listener(_ address: ListenerAddress) -> Listener {
        Listener(
            configuration: ListenerConfiguration(name: "api", address: address),
            answering: { _, _, _ in Response(text: "") },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
    }

    private func failure(_ address: ListenerAddress) async -> ListenerError? {
        do {
            let listener = listener(address)
            _ = try await listener.bind()
            try await listener.close()
            return nil
        } catch {
            return error as? ListenerError
        }
    }

    /// What a process that was killed leaves behind: a socket file with nobody behind it.
    private func leaveStaleSocket(at path: String) throws {
        close(try UnixSocket.bound(to: path))
    }

    @Test func aPortThatIsTakenIsNamedWithTheWayOut() async throws {
        let first = listener(.tcp(host: "127.0.0.1", port: 0))
        guard case .tcp(_, let port) = try await first.bind() else { throw POSIXError(.EINVAL) }
        let error = await failure(.tcp(host: "127.0.0.1", port: port))
        #expect(error?.reason == .addressInUse)
        #expect(
            error?.description == "Listener api cannot listen on 127.0.0.1:\(port): another program listens there; "
                + "stop that program (ss -ltnp shows which it is) or configure another port")
        try await first.close()
    }

    @Test func anAddressOfAnotherMachineIsRefused() async {
        #expect(await failure(.tcp(host: "192.0.2.1", port: 0))?.reason == .addressNotAvailable)
    }

    @Test func aListenerBindsOnce() async throws {
        let listener = listener(.tcp(host: "127.0.0.1", port: 0))
        _ = try await listener.bind()
        await #expect(throws: ListenerError.self) { try await listener.bind() }
        try await listener.close()
        await #expect(throws: ListenerError.self) { try await listener.run() }
    }

    @Test func aListenerThatCouldNotBindCanTryAgain() async throws {
        let path = ListenerFixture.temporaryPath()
        try Data().write(to: URL(fileURLWithPath: path))
        let listener = listener(.unix(path: path, mode: 0o600))
        await #expect(throws: ListenerError.self) { try await listener.bind() }
        try FileManager.default.removeItem(atPath: path)
        #expect(try await listener.bind() == .unix(path: path))
        try await listener.close()
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt16])
    func theSocketFileHasItsModeAndIsRemovedInTheEnd(_ mode: UInt16) async throws {
        let path = ListenerFixture.temporaryPath()
        let listener = listener(.unix(path: path, mode: mode))
        #expect(try await listener.bind() == .unix(path: path))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == Int(mode))
        try await listener.close()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aSocketFileThatADeadProcessLeftIsReplaced() async throws {
        let path = ListenerFixture.temporaryPath()
        try leaveStaleSocket(at: path)
        try await ListenerFixture.with(address: .unix(path: path, mode: 0o600)) { fixture in
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            #expect(try await client.response().status == 200)
        }
    }

    @Test func aSocketThatSomebodyServesIsLeftAlone() async throws {
        let path = ListenerFixture.temporaryPath()
        try await ListenerFixture.with(address: .unix(path: path, mode: 0o600)) { fixture in
            #expect(await failure(.unix(path: path, mode: 0o600))?.reason == .addressInUse)
            let client = try await fixture.connect()
            try await client.request("GET", "/")
            #expect(try await client.response().status == 200)
        }
    }

    @Test func aFileThatIsNoSocketIsLeftAlone() async throws {
        let path = ListenerFixture.temporaryPath()
        defer { unlink(path) }
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        #expect(await failure(.unix(path: path, mode: 0o600))?.reason == .notASocket)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test func theSocketFileOfASuccessorIsLeftAlone() async throws {
        let path = ListenerFixture.temporaryPath()
        defer { unlink(path) }
        let first = listener(.unix(path: path, mode: 0o600))
        _ = try await first.bind()
        try FileManager.default.removeItem(atPath: path)
        try leaveStaleSocket(at: path)
        try await first.close()
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func aMissingDirectoryAndALongPathAreNamed() async throws {
        #expect(await failure(.unix(path: "/nowhere/at/all.sock", mode: 0o600))?.reason == .directoryMissing)
        let long = "/tmp/" + String(repeating: "x", count: 103)
        #expect(await failure(.unix(path: long, mode: 0o600))?.reason == .pathTooLong)
    }
}
