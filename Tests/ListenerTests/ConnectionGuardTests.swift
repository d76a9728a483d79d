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
    private let guarded: GuardedChannel

    init() throws { guarded = try GuardedChannel() }

    @Test func aNewConnectionMayBeSilentForItsTime() throws {
        guarded.pass(14)
        #expect(guarded.channel.isActive)
        guarded.pass(1)
        #expect(!guarded.channel.isActive)
        #expect(try guarded.sent().isEmpty)
    }

    @Test func aNewConnectionMayBeSilentForLessWhenTheShutdownHasBegun() throws {
        guarded.pass(10)
        guarded.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        guarded.pass(.milliseconds(2999))
        #expect(guarded.channel.isActive)
        guarded.pass(.milliseconds(1))
        #expect(!guarded.channel.isActive)
    }

    @Test func itsFirstRequestIsItsLastThen() throws {
        guarded.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        guarded.pass(2)
        try guarded.receive(Self.get)
        #expect(try guarded.begun() == ["GET / "])
        guarded.respond()
        #expect(try guarded.sent().lowercased().contains("connection: close"))
        #expect(guarded.network.closed.count == 1)
    }

    @Test func theIdleTimeBeginsAnewAfterEachAnswer() throws {
        for pause: Int64 in [14, 50, 50] {
            guarded.pass(pause)
            try guarded.receive("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
            guarded.respond()
        }
        guarded.pass(59)
        #expect(guarded.channel.isActive)
        guarded.pass(1)
        #expect(!guarded.channel.isActive)
    }

    @Test func drippingBytesBuyNoTime() throws {
        try guarded.receive("GET / HTTP/1.1\r\n")
        for _ in 1...14 {
            guarded.pass(1)
            try guarded.receive("A: b\r\n")
        }
        #expect(try guarded.sent().isEmpty)
        guarded.pass(1)
        #expect(try guarded.sent().hasPrefix("HTTP/1.1 408 "))
    }

    @Test func drippingBytesOfABodyBuyNoTime() throws {
        try guarded.receive("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n")
        for _ in 1...14 {
            guarded.pass(1)
            try guarded.receive("b")
        }
        #expect(try guarded.sent().isEmpty)
        #expect(throws: Never.self) { try guarded.channel.throwIfErrorCaught() }
        guarded.pass(1)
        #expect(try guarded.sent().hasPrefix("HTTP/1.1 408 "))
    }

    @Test func eachRequestHasItsOwnTime() throws {
        for _ in 1...5 {
            try guarded.receive("GET / HTTP/1.1\r\n")
            guarded.pass(14)
            try guarded.receive("Host: test\r\n\r\n")
            guarded.respond()
        }
        #expect(try !guarded.sent().contains(" 408 "))
    }

    @Test func theTimeOfAResponderIsNotTheClients() throws {
        try guarded.receive("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        guarded.pass(3600)
        guarded.respond()
        #expect(guarded.channel.isActive)
        #expect(try guarded.sent().hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func theTimeWithoutReadingIsNotTheClients() throws {
        guarded.reader.isReading = false
        try guarded.channel.writeInbound(
            ByteBuffer(string: "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf"))
        guarded.pass(3600)
        #expect(try guarded.sent().isEmpty)
        guarded.reader.isReading = true
        guarded.channel.read()
        guarded.pass(14)
        #expect(try guarded.sent().isEmpty)
        guarded.pass(16)
        #expect(try guarded.sent().hasPrefix("HTTP/1.1 408 "))
    }

    @Test func aClientThatDoesNotReceiveIsGivenUp() throws {
        try guarded.receive("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        guarded.channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        guarded.channel.isWritable = false
        guarded.channel.pipeline.fireChannelWritabilityChanged()
        guarded.pass(29)
        #expect(guarded.channel.isActive)
        guarded.pass(1)
        #expect(!guarded.channel.isActive)
    }

    @Test func aClientThatTakesItsAnswerByteByByteIsGivenUpAllTheSame() throws {
        try guarded.receive("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        guarded.channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        func turn(isWritable: Bool) {
            guarded.channel.isWritable = isWritable
            guarded.channel.pipeline.fireChannelWritabilityChanged()
        }
        // Thrice it takes as much as to be given more, which takes this process an hour to make.
        for _ in 0..<3 {
            turn(isWritable: false)
            guarded.pass(9)
            turn(isWritable: true)
            guarded.pass(3600)
        }
        turn(isWritable: false)
        guarded.pass(2)
        #expect(guarded.channel.isActive)
        guarded.pass(1)
        #expect(!guarded.channel.isActive)
    }

    @Test func nothingIsReadAheadOfAnAnswerThatIsNotTaken() throws {
        #expect(guarded.activity == .silent)
        try guarded.receive(
            "GET / HTTP/1.1\r\nHost: test\r\n\r\nPOST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf")
        #expect(guarded.activity == .working)
        #expect(guarded.connections.record(of: guarded.channel)?.heldBytes == 0)
        let reads = guarded.network.reads
        guarded.channel.read()
        guarded.network.isTaking = false
        guarded.respond()
        guarded.channel.read()
        #expect(guarded.network.reads == reads)
        #expect(guarded.activity == .sending)
        guarded.network.isTaking = true
        guarded.channel.flush()
        #expect(guarded.network.reads == reads + 1)
        #expect(guarded.activity == .receiving)
        #expect(guarded.connections.record(of: guarded.channel)?.heldBytes == 4)
        try guarded.receive(" and n")
        #expect(guarded.activity == .working)
        #expect(guarded.connections.record(of: guarded.channel)?.heldBytes == 0)
        guarded.network.isTaking = false
        guarded.respond()
        #expect(guarded.activity == .sending)
        guarded.network.isTaking = true
        guarded.channel.flush()
        #expect(guarded.activity == .idle)
    }

    private static let get = "GET / HTTP/1.1\r\nHost: test\r\n\r\n"

    @Test func ofThousandsThatAreSentAheadOneIsBegunAtATimeAndAFewInAll() throws {
        try guarded.receive(String(repeating: Self.get, count: 1000))
        for _ in 0..<PipelinedRequests.limit {
            #expect(try guarded.begun() == ["GET / "])
            guarded.respond()
        }
        #expect(try guarded.begun() == [])
        let answers = try guarded.sent().components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst()
        #expect(answers.count == PipelinedRequests.limit)
        #expect(
            answers.map { $0.lowercased().contains("connection: close") } == answers.dropLast().map { _ in false } + [
                true
            ])
        #expect(guarded.network.closed == [.output])
        try guarded.receive(Self.get)
        #expect(try guarded.begun() == [])
    }

    @Test func aClientThatSendsAFewAheadAgainAndAgainIsReadInSmallPiecesAndServedForAsLongAsItLikes() throws {
        func readSize() throws -> Int? {
            let sizes = try guarded.channel.syncOptions?.getOption(.recvAllocator)
            return (sizes as? FixedSizeRecvByteBufferAllocator)?.capacity
        }
        try guarded.channel.syncOptions?.setOption(.recvAllocator, value: PipelinedRequests.usualReads)
        for _ in 0..<PipelinedRequests.limit {
            try guarded.receive(String(repeating: Self.get, count: 3))
            for _ in 0..<3 {
                #expect(try guarded.begun() == ["GET / "])
                guarded.respond()
            }
            guarded.channel.read()
            #expect(try readSize() == 64)
        }
        #expect(guarded.network.closed == [])
        // A head that is longer than that is read in pieces that grow.
        try guarded.receive("GET / HTTP/1.1\r\n")
        #expect(try readSize() == nil)
    }

    private static func head(_ method: String, _ more: String = "") -> String {
        "\(method) /a HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer prs_secret\r\n\(more)\r\n"
    }

    /// Sends bytes, and shows what the memory that they came in holds then.
    private func memory(after text: String) throws -> String {
        let bytes = ByteBuffer(string: text)
        try guarded.channel.writeInbound(bytes)
        guarded.channel.read()
        return String(buffer: bytes).replacing("\0", with: "")
    }

    @Test func `the bytes of a head are wiped once it is decoded`() throws {
        for _ in 0..<3 {
            #expect(try memory(after: Self.head("GET")) == "")
            #expect(try guarded.begun() == ["GET /a "])
            guarded.respond()
            guarded.channel.read()
        }
    }

    @Test func `the bytes of heads that were sent ahead are wiped, each when it is decoded`() throws {
        let bytes = ByteBuffer(string: Self.head("GET") + Self.head("PUT", "Content-Length: 0\r\n"))
        try guarded.channel.writeInbound(bytes)
        guarded.channel.read()
        #expect(String(buffer: bytes).replacing("\0", with: "").hasPrefix("PUT /a"))
        #expect(try guarded.begun() == ["GET /a "])
        guarded.respond()
        guarded.channel.read()
        #expect(String(buffer: bytes).replacing("\0", with: "") == "")
        #expect(try guarded.begun() == ["PUT /a "])
    }

    @Test func `the bytes of a body are not wiped, even if they look like a head`() throws {
        let body = Self.head("GET", "X: 1\r\n") + "end"
        let head = Self.head("POST", "Content-Length: \(body.utf8.count)\r\n")
        #expect(try memory(after: head + body) == body)
        #expect(try guarded.begun() == ["POST /a \(body)"])
        guarded.respond()
        guarded.channel.read()
        // Its end comes with the next head.
        let next = Self.head("POST", "Content-Length: 6\r\n")
        #expect(try memory(after: next + "abc") == "abc")
        #expect(try memory(after: "def" + Self.head("GET")).hasPrefix("def"))
        #expect(try guarded.begun() == ["POST /a abcdef", "GET /a "])
    }

    @Test(arguments: [1, 2, 20, 40, 60, 70]) func `a head in pieces is decoded as one that came whole`(size: Int) throws
    {
        var rest = Self.head("PUT", "Content-Length: 3\r\n")[...]
        while !rest.isEmpty {
            try guarded.receive(String(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        try guarded.receive("abc")
        #expect(try guarded.begun() == ["PUT /a abc"])
    }

    @Test func nothingThatWasSentAheadIsBegunForAClientThatHasFinished() throws {
        try guarded.receive(Self.get + Self.get)
        #expect(try guarded.begun() == ["GET / "])
        // NIO reads what is left without being asked.
        try guarded.channel.writeInbound(ByteBuffer(string: Self.get))
        guarded.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        guarded.respond()
        #expect(try guarded.begun() == [])
        #expect(try guarded.sent().hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test(arguments: 1...120)
    func requestsAreTheSameHoweverTheirBytesCome(_ size: Int) throws {
        let posts = ["a\r\n\r\nb", "\r\n\r\n", "c\r\n\r"].map {
            "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)"
        }
        var bytes = ByteBuffer(string: (posts + [Self.get, "\r\n", posts[0]]).joined())
        var requests: [String] = []
        while let piece = bytes.readSlice(length: min(size, bytes.readableBytes)), piece.readableBytes > 0 {
            try guarded.channel.writeInbound(piece)
            guarded.channel.read()
            while true {
                let more = try guarded.begun()
                if more.isEmpty { break }
                requests += more
                for _ in more { guarded.respond() }
            }
        }
        #expect(requests == ["POST / a\r\n\r\nb", "POST / \r\n\r\n", "POST / c\r\n\r", "GET / ", "POST / a\r\n\r\nb"])
        #expect(guarded.network.closed == [])
    }

    @Test func theTimeForTheNextRequestBeginsWhenTheAnswerIsTaken() throws {
        try guarded.receive(
            "GET / HTTP/1.1\r\nHost: test\r\n\r\nPOST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf")
        guarded.pass(3599)
        guarded.respond()
        guarded.pass(14)
        #expect(try !guarded.sent().contains(" 408 "))
        guarded.pass(1)
        #expect(try guarded.sent().contains(" 408 "))
    }

    @Test func aRefusedClientThatNeverFinishesIsGivenUp() throws {
        try guarded.receive("BROKEN\r\n\r\n")
        #expect(try guarded.sent().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(guarded.network.closed == [.output])
        guarded.pass(1)
        try guarded.receive("and more")
        #expect(guarded.channel.isActive)
        guarded.pass(1)
        #expect(!guarded.channel.isActive)
    }

    @Test func aRefusedClientThatFinishesIsClosedAtOnce() throws {
        try guarded.receive("BROKEN\r\n\r\n")
        guarded.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(guarded.network.closed == [.output, .all])
    }

    @Test func theConnectionIsNotClosedUnderneathARefusal() throws {
        try guarded.receive("BROKEN\r\n\r\n")
        let closed = guarded.channel.close()
        #expect(guarded.channel.isActive)
        guarded.pass(2)
        #expect(!guarded.channel.isActive)
        try closed.wait()
    }

    @Test func anAbortWaitsForNothing() throws {
        try guarded.receive("BROKEN\r\n\r\n")
        guarded.channel.pipeline.fireUserInboundEventTriggered(ConnectionAbortEvent())
        #expect(!guarded.channel.isActive)
    }
}
