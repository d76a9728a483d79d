import Glibc
import NIOCore

/// Passes a connection's bytes on request by request: what a client sends before it has been answered waits here, not decoded.
///
/// It stands before the HTTP decoder, which decodes whatever one read has brought: hundreds of requests, for which everybody else on
/// the event loop would wait. ``ConnectionGuard`` asks for bytes when it has nothing to answer, and is given those up to the end of the
/// next head.
///
/// An event loop looks at its sockets when nothing else is left to do. So what one read brings is kept small: about one request, as soon
/// as a read has brought many.
///
/// It wipes the bytes of a head once the decoder has made strings of them: the buffer of a read outlives its connection in freed memory,
/// and a head contains the caller's token.
///
/// Source: RFC 9112 section 9.3.2
final class PipelinedRequests: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = Never

    /// The most requests that are answered of those that one read has brought; the connection ends with them.
    ///
    /// So many come only after a long body, for which reads have grown, or in one record of TLS.
    static let limit = 128
    /// How many requests one read may bring before the next is made small.
    private static let fewRequests = 2
    /// How much a read brings of a client that sends one request at a time.
    static let usualReads = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2048, maximum: maximumRead)
    static let smallReads = FixedSizeRecvByteBufferAllocator(capacity: 64)
    /// Growing from small ones, after one that has brought no request.
    private static let growingReads = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 128, maximum: maximumRead)
    private static let maximumRead = 1 << 14

    /// The most bytes that wait.
    ///
    /// One read brings less; but NIO reads all that is there once the client has finished.
    private static let maximumBytes = 1 << 16

    private var bytes = ByteBuffer()
    /// How many requests have begun since the socket was read from.
    private var begun = 0
    /// How many heads the decoder has decoded.
    private var heads: UInt64 = 0
    /// Whether a head is decoded of a request whose body has not arrived whole.
    private var isInBody = false
    /// Whether the socket is to be read from.
    private var isReading = false
    /// Whether the handlers behind want bytes.
    private var isWanted = false
    private var isPassing = false
    private var areReadsSmall = false
    private var isDiscarding = false

    /// Whether nothing waits.
    var isEmpty: Bool { bytes.readableBytes == 0 }

    /// Takes note of a head that is decoded.
    func headArrives() {
        heads += 1
        isInBody = true
    }

    /// Takes note of a request that has arrived whole.
    func requestEnds() { isInBody = false }

    /// Takes note of a request that has begun.
    ///
    /// - Returns: whether none of those that wait is begun after it.
    func begins() -> Bool {
        begun += 1
        return begun >= Self.limit && !isEmpty
    }

    /// Throws away what waits and all that comes.
    func discard() {
        bytes = ByteBuffer()
        isDiscarding = true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDiscarding else { return }
        var arrived = unwrapInboundIn(data)
        guard !isEmpty else {
            bytes = arrived
            return
        }
        guard bytes.readableBytes + arrived.readableBytes <= Self.maximumBytes else { return discard() }
        bytes.writeBuffer(&arrived)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard !isEmpty else { return context.fireChannelReadComplete() }
        guard isReading else { return }
        isReading = false
        isWanted = true
        passOn(context)
    }

    func read(context: ChannelHandlerContext) {
        isWanted = true
        passOn(context)
    }

    /// Passes on what is wanted of what waits, and reads from the socket when more is wanted.
    private func passOn(_ context: ChannelHandlerContext) {
        guard !isPassing else { return }
        isPassing = true
        while isWanted, !isEmpty {
            isWanted = false
            passOnPiece(context)
            context.fireChannelReadComplete()
            // As a channel does after each read; the handlers behind say whether they want more.
            context.channel.read()
        }
        isPassing = false
        guard isWanted else { return }
        isWanted = false
        if !isReading { fitReads(to: context.channel) }
        isReading = true
        context.read()
    }

    private func passOnPiece(_ context: ChannelHandlerContext) {
        guard let head = nextHead() else {
            let piece = bytes
            bytes = ByteBuffer()
            return context.fireChannelRead(wrapInboundOut(piece))
        }
        // Of a body that ends in the same piece, the handlers behind hold the bytes themselves.
        let (headsBefore, mayBeWiped) = (heads, !isInBody)
        context.fireChannelRead(wrapInboundOut(head))
        // Only a decoded head is not needed any more; the decoder keeps what it could not decode.
        if mayBeWiped, heads != headsBefore { Self.wipe(head) }
    }

    /// Overwrites what a buffer holds, also for others that share its memory.
    private static func wipe(_ head: ByteBuffer) {
        head.withUnsafeReadableBytes { bytes in
            guard let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress) else { return }
            explicit_bzero(start, bytes.count)
        }
    }

    /// Makes the next read as large as what the latest has brought lets expect.
    private func fitReads(to channel: any Channel) {
        let brought = begun
        begun = 0
        // Fails only when the channel is closed.
        if !areReadsSmall, brought > Self.fewRequests {
            areReadsSmall = true
            try? channel.syncOptions?.setOption(.recvAllocator, value: Self.smallReads)
        } else if areReadsSmall, brought == 0 {
            areReadsSmall = false
            try? channel.syncOptions?.setOption(.recvAllocator, value: Self.growingReads)
        }
    }

    /// What waits up to the end of the first head; nil when none ends there.
    ///
    /// What looks like the end of a head may be in a body, which then comes in more pieces. A head cannot end in another way: the
    /// decoder refuses a line that ends without a carriage return.
    private func nextHead() -> ByteBuffer? {
        guard let end = bytes.withUnsafeReadableBytes(Self.endOfHead), let piece = bytes.readSlice(length: end) else {
            return nil
        }
        if isEmpty { bytes = ByteBuffer() }
        return piece
    }

    /// How many bytes there are up to the end of the first head; nil when none ends there.
    private static func endOfHead(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let end = (UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\n"))
        guard let start = bytes.baseAddress else { return nil }
        var position = 0
        while let found = memchr(start + position, Int32(end.0), bytes.count - position) {
            position = UnsafeRawPointer(found) - start
            guard position + 4 <= bytes.count else { return nil }
            if (bytes[position], bytes[position + 1], bytes[position + 2], bytes[position + 3]) == end {
                return position + 4
            }
            position += 1
        }
        return nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Whoever has finished counts as gone (``ConnectionResponder``): what waits is begun for nobody.
        if case ChannelEvent.inputClosed = event { discard() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        discard()
        context.fireChannelInactive()
    }
}
