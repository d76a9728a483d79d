import ArgumentParser
import Foundation
import GRPCAPI
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOHTTP1
import NIOPosix

/// Says hello, by gRPC on grpc-swift's own transport and by HTTP/1.1 on NIO's codec: what either protocol costs before anything is
/// done.
struct HelloServer: Codable, Sendable {
    /// The method's path.
    static let method = "hello.Greeter/SayHello"

    let grpcPort: Int
    let httpPort: Int

    /// Serves until the process is ended.
    func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let http = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
                    try channel.pipeline.syncOperations.addHandler(HelloHandler())
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: httpPort).get()
        let server = GRPCServer(
            transport: HTTP2ServerTransport.Posix(
                address: .ipv4(host: "127.0.0.1", port: grpcPort), transportSecurity: .plaintext,
                eventLoopGroup: MultiThreadedEventLoopGroup(numberOfThreads: 1)),
            services: [Greeter()])
        try await server.serve()
        try await http.close()
    }
}

/// The command `purser-bench hello`, by which the bench runs it.
struct HelloCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hello", abstract: "Say hello to whoever asks; used by `run`.", shouldDisplay: false)

    @Argument(help: "Its plan, as JSON.")
    var plan: String

    func run() async throws { try await JSONDecoder().decode(HelloServer.self, from: Data(plan.utf8)).run() }
}

/// The service of one method, whose messages are bytes.
private struct Greeter: RegistrableRPCService {
    private static let hello = Array("hello".utf8)

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        let parts = HelloServer.method.split(separator: "/").map(String.init)
        router.registerHandler(
            forMethod: MethodDescriptor(fullyQualifiedService: parts[0], method: parts[1]),
            deserializer: PlainMessages(), serializer: PlainMessages()
        ) { request, _ in
            for try await _ in request.messages {}
            return StreamingServerResponse(single: ServerResponse(message: Self.hello))
        }
    }
}

/// Answers each request at once.
private final class HelloHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let headers: HTTPHeaders = ["Content-Type": "text/plain", "Content-Length": "5"]
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "hello")))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
