import Curl
import Foundation
import NIOCore
import NIOPosix
import Testing

/// Servers on this machine: through a Unix socket, and in clear text.
struct CurlUnixSocketTests {
    /// Answers whatever comes with the request's first line.
    private final class Echo: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let line = String(buffer: unwrapInboundIn(data)).prefix { $0 != "\r\n" }
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(line.utf8.count)\r\nConnection: close\r\n\r\n\(line)"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        }
    }

    private static var server: ServerBootstrap {
        ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Echo()) }
        }
    }

    private func withSocketPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "curl-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "s").path)
    }

    @Test func aServerIsReachedThroughItsUnixSocket() async throws {
        try await withSocketPath { path in
            let channel = try await Self.server.bind(unixDomainSocketPath: path).get()
            try await CurlFixture.run(CurlConfiguration()) { client in
                var request = CurlRequest.patient(.get, "http://localhost/a/../b?c")
                request.unixSocket = path
                let response = try await client.perform(request)
                #expect(response.status == 200)
                #expect(String(decoding: response.body, as: UTF8.self) == "GET /a/../b?c HTTP/1.1")
            }
            try await channel.close()
        }
    }

    @Test func aUnixSocketWithoutAServerIsAFailureToConnect() async throws {
        try await withSocketPath { path in
            try await CurlFixture.run(CurlConfiguration()) { client in
                var request = CurlRequest.patient(.get, "http://localhost/")
                request.unixSocket = path
                let error = await CurlFixture.failure(of: request, by: client)
                #expect(error?.kind == .connectFailed)
                #expect(error?.requestMayHaveBeenSent == false)
            }
        }
    }

    @Test func clearTextIsRefusedUnlessItIsAllowed() async throws {
        let channel = try await Self.server.bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        try await CurlFixture.run(CurlConfiguration()) { client in
            var request = CurlRequest.patient(.get, "http://127.0.0.1:\(port)/")
            #expect(await CurlFixture.failure(of: request, by: client)?.kind == .invalidRequest)
            request.allowsClearText = true
            let response = try await client.perform(request)
            #expect(response.status == 200)
        }
        try await channel.close()
    }
}
