import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// A forward proxy on a loopback port that knows only CONNECT.
///
/// Source: RFC 9110, section 9.3.6.
struct LoopbackProxy: Sendable {
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    let port: Int
    private let log: RequestLog

    /// The first line of each request so far.
    var requestLines: [String] { log.lines.withLock { $0 } }

    private final class RequestLog: Sendable {
        let lines = Mutex<[String]>([])
    }

    /// Runs a proxy for as long as the closure runs.
    ///
    /// - Parameters:
    ///   - status: What CONNECT is answered with; only after 200 there is a tunnel.
    ///   - body: What to do with the proxy.
    /// - Throws: What the closure throws.
    static func run(status: String = "200 OK", during body: (LoopbackProxy) async throws -> Void) async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
        let log = RequestLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await withThrowingDiscardingTaskGroup { connections in
                    try await listener.executeThenClose { inbound in
                        for try await connection in inbound {
                            connections.addTask { try? await serve(connection, status, log) }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            try await body(LoopbackProxy(port: listener.channel.localAddress?.port ?? 0, log: log))
        }
    }

    private static func serve(_ client: Connection, _ status: String, _ log: RequestLog) async throws {
        try await client.executeThenClose { inbound, outbound in
            var received = inbound.makeAsyncIterator()
            var head = ""
            while !head.hasSuffix("\r\n\r\n") {
                guard let bytes = try await received.next() else { return }
                head += String(buffer: bytes)
            }
            let line = String(head.prefix { $0 != "\r\n" })
            log.lines.withLock { $0.append(line) }
            try await outbound.write(ByteBuffer(string: "HTTP/1.1 \(status)\r\nVia: proxy\r\n\r\n"))
            let words = line.split(separator: " ")
            guard status.hasPrefix("200"), words.first == "CONNECT",
                let port = words[1].split(separator: ":").last.flatMap({ Int($0) })
            else { return }
            try await tunnel(received, outbound, toPort: port)
        }
    }

    private static func tunnel(
        _ received: sending NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, toPort port: Int
    ) async throws {
        let server = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(Int64(Wait.seconds)))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
        try await server.executeThenClose { serverInbound, serverOutbound in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await bytes in serverInbound { try await outbound.write(bytes) }
                }
                defer { group.cancelAll() }
                var received = received
                while let bytes = try await received.next() { try await serverOutbound.write(bytes) }
            }
        }
    }
}
