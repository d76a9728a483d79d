import AppStoreClient
import ArgumentParser
import Curl
import Domain
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import OpenSSL

/// The smallest program with the parts that an answer of Purser takes: NIO's HTTP codec, a task on the connection's event
/// loop, our HTTP client and one check of signed data.
///
/// It knows no callers, tables of routes, rules, limits, store or metrics, shares no calls and sees to nothing that goes wrong:
/// what Purser costs beyond it is what Purser does.
struct FloorServer: Codable, Sendable {
    let port: Int
    /// The port of what stands for Apple.
    let upstream: Int
    /// The folder of the fixtures.
    let fixtures: String

    /// Serves until the process is ended.
    func run() async throws {
        var configuration = CurlConfiguration()
        configuration.certificateAuthorityFile = "\(fixtures)/ca.pem"
        let root = try Certificate(der: Array(Data(contentsOf: URL(filePath: "\(fixtures)/root.der"))))
        let parts = FloorParts(
            client: try CurlClient(configuration: configuration),
            verifier: SignedDataVerifier(roots: [root], now: { Date() }),
            url: "https://localhost:\(upstream)/inApps/v1/transactions/")
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let executor = FloorExecutor(eventLoop: group.next())
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
                    try channel.pipeline.syncOperations.addHandler(FloorHandler(parts: parts, executor: executor))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: port).get()
        try await channel.closeFuture.get()
    }
}

/// The command `purser-bench floor`, by which the bench runs it.
struct FloorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "floor", abstract: "Serve as the smallest program; used by `run`.", shouldDisplay: false)

    @Argument(help: "Its plan, as JSON.")
    var plan: String

    func run() async throws { try await JSONDecoder().decode(FloorServer.self, from: Data(plan.utf8)).run() }
}

/// What each request needs.
private struct FloorParts: Sendable {
    let client: CurlClient
    let verifier: SignedDataVerifier
    /// What stands before the id of a transaction.
    let url: String

    /// The checked payload of a transaction; the path is `/`, the number of its app, `/` and its id.
    func answer(_ path: String) async throws -> [UInt8] {
        let components = path.split(separator: "/")
        guard components.count == 2, let number = Int(components[0]) else { throw BenchError("no such path: \(path)") }
        let response = try await client.perform(
            CurlRequest(.get, url + components[1], headers: [("Authorization", "Bearer " + Self.token)]))
        // {"signedTransactionInfo":"…"}
        let parts = response.body.split(separator: UInt8(ascii: "\""))
        guard response.status == 200, parts.count == 5 else { throw BenchError("status \(response.status)") }
        return try verifier.verify(
            String(decoding: parts[3], as: UTF8.self), .transaction,
            app: App(slug: "a\(number)", bundleID: Fixtures.bundleID(number)), environment: .sandbox
        ).payload
    }

    /// As long as one of ours.
    private static let token = String(repeating: "t", count: 300)
}

/// Runs tasks on the event loop of their connection.
private final class FloorExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Answers each request in a task.
private final class FloorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let parts: FloorParts
    private let executor: FloorExecutor
    private var path = ""

    init(parts: FloorParts, executor: FloorExecutor) {
        self.parts = parts
        self.executor = executor
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): path = head.uri
        case .body: break
        case .end: answer(context)
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        let (parts, path) = (parts, path)
        let mine = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        Task.immediate(executorPreference: executor) {
            let body: [UInt8]
            var status = HTTPResponseStatus.ok
            do {
                body = try await parts.answer(path)
            } catch {
                (status, body) = (.badGateway, Array("\(error)".utf8))
            }
            let headers: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": "\(body.count)"]
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
            let (handler, context) = mine.value
            context.write(handler.wrapOutboundOut(.head(head)), promise: nil)
            context.write(handler.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
            context.writeAndFlush(handler.wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
