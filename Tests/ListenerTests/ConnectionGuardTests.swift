import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Testing

@testable import Listener

/// The limits in time, on an event loop whose clock the test moves.
@Suite struct ConnectionGuardTests {
    private let channel = EmbeddedChannel()
    private let network = Network()
    private let reader = Reader()
    private let connections: OpenConnections

    init() throws {
        var configuration = ListenerConfiguration(name: "test", address: .tcp(host: "127.0.0.1", port: 0))
        configuration.idleTimeout = .seconds(60)
        configuration.requestReadTimeout = .seconds(15)
        configuration.responseWriteTimeout = .seconds(30)
        configuration.lingerTimeout = .seconds(2)
        connections = OpenConnections(bounds: .init(configuration), logger: .quiet, whenOver: {})
        #expect(connections.insert(channel))
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(network)
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        let connectionGuard = ConnectionGuard(
            configuration: configuration, connections: connections,
            limiter: RequestLimiter(limit: nil, logger: .quiet),
            answeringOverload: Refusal.answerOverload, logger: .quiet)
        try pipeline.addHandler(connectionGuard)
        try connectionGuard.addHandlersBefore(in: pipeline)
        try pipeline.addHandler(reader)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.read()
    }

    private func receive(_ text: String) throws {
        try channel.writeInbound(ByteBuffer(string: text))
        channel.read()
    }

    private func pass(_ seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    }

    private func respond() {
        channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
    }

    /// The requests that have come to a responder since the last look, each as method, path and body.
    private func begun() throws -> [String] {
        var requests: [String] = []
        while let part = try channel.readInbound(as: HTTPRequestPart.self) {
            switch part {
            case .head(let head): requests.append("\(head.method) \(head.path ?? "") ")
            case .body(let bytes): requests.append((requests.popLast() ?? "") + String(buffer: bytes))
            case .end: break
            }
        }
        return requests
    }

    private var activity: ConnectionRecord.Activity? { connections.record(of: channel)?.activity.kind }

    private func sent() throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    @Test func aNewConnectionMayBeSilentForItsTime() throws {
        pass(14)
        #expect(channel.isActive)
        pass(1)
        #expect(!channel.isActive)
        #expect(try sent().isEmpty)
    }

    @Test func theIdleTimeBeginsAnewAfterEachAnswer() throws {
        for pause: Int64 in [14, 50, 50] {
            pass(pause)
            try receive("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
            respond()
        }
        pass(59)
        #expect(channel.isActive)
        pass(1)
        #expect(!channel.isActive)
    }

    @Test func drippingBytesBuyNoTime() throws {
        try receive("GET / HTTP/1.1\r\n")
        for _ in 1...14 {
            pass(1)
            try receive("A: b\r\n")
        }
        #expect(try sent().isEmpty)
        pass(1)
        #expect(try sent().hasPrefix("HTTP/1.1 408 "))
    }

    @Test func drippingBytesOfABodyBuyNoTime() throws {
        try receive("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n")
        for _ in 1...14 {
            pass(1)
            try receive("b")
        }
        #expect(try sent().isEmpty)
        #expect(throws: Never.self) { try channel.throwIfErrorCaught() }
        pass(1)
        #expect(try sent().hasPrefix("HTTP/1.1 408 "))
    }

    @Test func eachRequestHasItsOwnTime() throws {
        for _ in 1...5 {
            try receive("GET / HTTP/1.1\r\n")
            pass(14)
            try receive("Host: test\r\n\r\n")
            respond()
        }
        #expect(try !sent().contains(" 408 "))
    }

    @Test func theTimeOfAResponderIsNotTheClients() throws {
        try receive("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        pass(3600)
        respond()
        #expect(channel.isActive)
        #expect(try sent().hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func theTimeWithoutReadingIsNotTheClients() throws {
        reader.isReading = false
        try channel.writeInbound(ByteBuffer(string: "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf"))
        pass(3600)
        #expect(try sent().isEmpty)
        reader.isReading = true
        channel.read()
        pass(14)
        #expect(try sent().isEmpty)
        pass(16)
        #expect(try sent().hasPrefix("HTTP/1.1 408 "))
    }

    @Test func aClientThatDoesNotReceiveIsGivenUp() throws {
        try receive("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        pass(29)
        #expect(channel.isActive)
        pass(1)
        #expect(!channel.isActive)
    }

    @Test func aClientThatTakesItsAnswerByteByByteIsGivenUpAllTheSame() throws {
        try receive("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        func turn(isWritable: Bool) {
            channel.isWritable = isWritable
            channel.pipeline.fireChannelWritabilityChanged()
        }
        // Thrice it takes as much as to be given more, which takes this process an hour to make.
        for _ in 0..<3 {
            turn(isWritable: false)
            pass(9)
            turn(isWritable: true)
            pass(3600)
        }
        turn(isWritable: false)
        pass(2)
        #expect(channel.isActive)
        pass(1)
        #expect(!channel.isActive)
    }

    @Test func nothingIsReadAheadOfAnAnswerThatIsNotTaken() throws {
        #expect(activity == .silent)
        try receive(
            "GET / HTTP/1.1\r\nHost: test\r\n\r\nPOST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf")
        #expect(activity == .working)
        #expect(connections.record(of: channel)?.heldBytes == 0)
        let reads = network.reads
        channel.read()
        network.isTaking = false
        respond()
        channel.read()
        #expect(network.reads == reads)
        #expect(activity == .sending)
        network.isTaking = true
        channel.flush()
        #expect(network.reads == reads + 1)
        #expect(activity == .receiving)
        #expect(connections.record(of: channel)?.heldBytes == 4)
        try receive(" and n")
        #expect(activity == .working)
        #expect(connections.record(of: channel)?.heldBytes == 0)
        network.isTaking = false
        respond()
        #expect(activity == .sending)
        network.isTaking = true
        channel.flush()
        #expect(activity == .idle)
    }

    private static let get = "GET / HTTP/1.1\r\nHost: test\r\n\r\n"

    @Test func ofThousandsThatAreSentAheadOneIsBegunAtATimeAndAFewInAll() throws {
        try receive(String(repeating: Self.get, count: 1000))
        for _ in 0..<PipelinedRequests.limit {
            #expect(try begun() == ["GET / "])
            respond()
        }
        #expect(try begun() == [])
        let answers = try sent().components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst()
        #expect(answers.count == PipelinedRequests.limit)
        #expect(
            answers.map { $0.lowercased().contains("connection: close") } == answers.dropLast().map { _ in false } + [
                true
            ])
        #expect(network.closed == [.output])
        try receive(Self.get)
        #expect(try begun() == [])
    }

    @Test func aClientThatSendsAFewAheadAgainAndAgainIsReadInSmallPiecesAndServedForAsLongAsItLikes() throws {
        func readSize() throws -> Int? {
            let sizes = try channel.syncOptions?.getOption(.recvAllocator)
            return (sizes as? FixedSizeRecvByteBufferAllocator)?.capacity
        }
        try channel.syncOptions?.setOption(.recvAllocator, value: PipelinedRequests.usualReads)
        for _ in 0..<PipelinedRequests.limit {
            try receive(String(repeating: Self.get, count: 3))
            for _ in 0..<3 {
                #expect(try begun() == ["GET / "])
                respond()
            }
            channel.read()
            #expect(try readSize() == 64)
        }
        #expect(network.closed == [])
        // A head that is longer than that is read in pieces that grow.
        try receive("GET / HTTP/1.1\r\n")
        #expect(try readSize() == nil)
    }

    @Test func nothingThatWasSentAheadIsBegunForAClientThatHasFinished() throws {
        try receive(Self.get + Self.get)
        #expect(try begun() == ["GET / "])
        // NIO reads what is left without being asked.
        try channel.writeInbound(ByteBuffer(string: Self.get))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        respond()
        #expect(try begun() == [])
        #expect(try sent().hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test(arguments: 1...120)
    func requestsAreTheSameHoweverTheirBytesCome(_ size: Int) throws {
        let posts = ["a\r\n\r\nb", "\r\n\r\n", "c\r\n\r"].map {
            "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)"
        }
        var bytes = ByteBuffer(string: (posts + [Self.get, "\r\n", posts[0]]).joined())
        var requests: [String] = []
        while let piece = bytes.readSlice(length: min(size, bytes.readableBytes)), piece.readableBytes > 0 {
            try channel.writeInbound(piece)
            channel.read()
            while true {
                let more = try begun()
                if more.isEmpty { break }
                requests += more
                for _ in more { respond() }
            }
        }
        #expect(requests == ["POST / a\r\n\r\nb", "POST / \r\n\r\n", "POST / c\r\n\r", "GET / ", "POST / a\r\n\r\nb"])
        #expect(network.closed == [])
    }

    @Test func theTimeForTheNextRequestBeginsWhenTheAnswerIsTaken() throws {
        try receive(
            "GET / HTTP/1.1\r\nHost: test\r\n\r\nPOST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf")
        pass(3599)
        respond()
        pass(14)
        #expect(try !sent().contains(" 408 "))
        pass(1)
        #expect(try sent().contains(" 408 "))
    }

    @Test func aRefusedClientThatNeverFinishesIsGivenUp() throws {
        try receive("BROKEN\r\n\r\n")
        #expect(try sent().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(network.closed == [.output])
        pass(1)
        try receive("and more")
        #expect(channel.isActive)
        pass(1)
        #expect(!channel.isActive)
    }

    @Test func aRefusedClientThatFinishesIsClosedAtOnce() throws {
        try receive("BROKEN\r\n\r\n")
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(network.closed == [.output, .all])
    }

    @Test func theConnectionIsNotClosedUnderneathARefusal() throws {
        try receive("BROKEN\r\n\r\n")
        let closed = channel.close()
        #expect(channel.isActive)
        pass(2)
        #expect(!channel.isActive)
        try closed.wait()
    }

    @Test func anAbortWaitsForNothing() throws {
        try receive("BROKEN\r\n\r\n")
        channel.pipeline.fireUserInboundEventTriggered(ConnectionAbortEvent())
        #expect(!channel.isActive)
    }

    /// Stands in for a responder that takes what has been read, or does not yet.
    private final class Reader: ChannelOutboundHandler {
        typealias OutboundIn = Never

        var isReading = true

        func read(context: ChannelHandlerContext) {
            if isReading { context.read() }
        }
    }

    /// Stands in for the socket, which an embedded channel closes whole when only its output is to be closed.
    private final class Network: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        var closed: [CloseMode] = []
        var reads = 0
        /// Whether it takes what is written.
        var isTaking = true {
            didSet { if isTaking { pass() } }
        }
        private var context: ChannelHandlerContext?
        private var waiting: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func read(context: ChannelHandlerContext) {
            reads += 1
            context.read()
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            waiting.append((data, promise))
            if isTaking { pass() }
        }

        private func pass() {
            for (data, promise) in waiting { context?.write(data, promise: promise) }
            waiting = []
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            closed.append(mode)
            if mode == .output {
                promise?.succeed()
            } else {
                context.close(mode: mode, promise: promise)
            }
        }
    }
}
