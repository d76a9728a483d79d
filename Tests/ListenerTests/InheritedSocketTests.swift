import Foundation
import Listener
import NIOPosix
import ServiceLifecycleTestKit
import TestSupport
import Testing

/// Sockets that somebody else has opened: they outlive the listener, and so do the clients that wait there.
@Suite(.endsHangs) struct InheritedSocketTests {
    private func listener(_ address: ListenerAddress, inheriting descriptor: Int32) -> Listener {
        Listener(
            configuration: .patient(address), answering: ListenerFixture.echo(behind: Gate()),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, inheriting: descriptor, logger: .quiet)
    }

    private func failure(_ address: ListenerAddress, inheriting descriptor: Int32) async -> ListenerError? {
        defer { close(descriptor) }
        do throws(ListenerError) {
            _ = try await listener(address, inheriting: descriptor).bind()
            return nil
        } catch {
            return error
        }
    }

    @Test func `one that listens is served where it listens, and again by the next listener`() async throws {
        let (socket, port) = try LoopbackSocket.listening()
        defer { close(socket) }
        for address in [ListenerAddress.tcp(host: "127.0.0.1", port: port), .tcp(host: "127.0.0.1", port: 0)] {
            // Connects while nobody serves: the kernel keeps it.
            let waiting = try await TestConnection.connect(to: .tcp(host: "127.0.0.1", port: port))
            try await waiting.request("GET", "/waiting")
            let listener = listener(address, inheriting: dup(socket))
            try await ListenerFixture.run(listener) { fixture in
                #expect(fixture.address == .tcp(host: "127.0.0.1", port: port))
                #expect(try await waiting.response().body == "GET /waiting ")
                let client = try await fixture.connect()
                try await client.request("GET", "/next")
                #expect(try await client.response().body == "GET /next ")
            }
        }
    }

    @Test func `the file of a Unix socket stays`() async throws {
        let path = ListenerFixture.temporaryPath()
        let socket = try UnixSocket.bound(to: path)
        defer {
            close(socket)
            unlink(path)
        }
        for _ in 0..<2 {
            let listener = listener(.unix(path: path, mode: 0o600), inheriting: dup(socket))
            try await ListenerFixture.run(listener) { fixture in
                let client = try await fixture.connect()
                try await client.request("GET", "/")
                #expect(try await client.response().body == "GET / ")
            }
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a shutdown that comes before it serves leaves who waits to the next listener`() async throws {
        for _ in 0..<10 {
            let path = ListenerFixture.temporaryPath()
            let socket = try UnixSocket.bound(to: path)
            defer {
                close(socket)
                unlink(path)
            }
            let waiting = try await TestConnection.connect(to: .unix(path: path))
            try await waiting.request("GET", "/waiting")
            let listener = listener(.unix(path: path, mode: 0o600), inheriting: dup(socket))
            _ = try await listener.bind()
            try await testGracefulShutdown { trigger in
                trigger.triggerGracefulShutdown()
                try await listener.run()
            }
            let next = self.listener(.unix(path: path, mode: 0o600), inheriting: dup(socket))
            try await ListenerFixture.run(next) { _ in
                let answer = try await waiting.response()
                #expect(answer.body == "GET /waiting ")
            }
        }
    }

    @Test func `one that listens elsewhere is refused, with both addresses`() async throws {
        let (socket, port) = try LoopbackSocket.listening()
        let error = await failure(.tcp(host: "127.0.0.1", port: 1), inheriting: socket)
        #expect(
            error?.description
                == "Listener test cannot listen on 127.0.0.1:1: the socket that the service manager hands over listens on 127.0.0.1:\(port); make ListenStream= of the socket unit and the configured address the same"
        )
        for address in [ListenerAddress.tcp(host: "::1", port: 0), .unix(path: "/run/x.sock", mode: 0o600)] {
            let (socket, port) = try LoopbackSocket.listening()
            #expect(
                await failure(address, inheriting: socket)?.reason == .inheritedElsewhere("127.0.0.1:\(port)"))
        }
        let path = ListenerFixture.temporaryPath()
        defer { unlink(path) }
        let reason = await failure(
            .unix(path: path + "x", mode: 0o600), inheriting: try UnixSocket.bound(to: path))?.reason
        #expect(reason == .inheritedElsewhere("unix:\(path)"))
    }

    @Test func `what does not listen is refused`() async throws {
        let path = ListenerFixture.temporaryPath()
        defer { unlink(path) }
        let datagram = try UnixSocket.bound(to: path, .datagram)
        #expect(await failure(.unix(path: path, mode: 0o600), inheriting: datagram)?.reason == .notListening)
        let file = open("/dev/null", O_RDONLY)
        #expect(await failure(.tcp(host: "127.0.0.1", port: 0), inheriting: file)?.reason == .notListening)
    }
}
