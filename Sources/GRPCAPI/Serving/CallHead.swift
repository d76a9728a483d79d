import GRPCCore
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The bounds of one call.
package struct GRPCLimits: Sendable {
    /// The longest message of a client, in bytes.
    package var maximumMessageBytes: Int
    /// The most bytes of metadata that the transport takes, names and values together.
    package static let mostMetadataBytes = 16 << 10

    /// The most bytes of a call's metadata, names and values together; at most ``mostMetadataBytes``.
    package var maximumMetadataBytes: Int
    /// How long a client may take to send its message.
    package var readTime: Duration
    /// How long it may take to receive an answer, or one of many.
    package var writeTime: Duration

    package init(
        maximumMessageBytes: Int, maximumMetadataBytes: Int = mostMetadataBytes, readTime: Duration = .seconds(15),
        writeTime: Duration = .seconds(60)
    ) {
        self.maximumMessageBytes = maximumMessageBytes
        self.maximumMetadataBytes = maximumMetadataBytes
        self.readTime = readTime
        self.writeTime = writeTime
    }
}

/// Holds one call to its limits, and tells of its end; the first handler of a call's stream.
///
/// It stands before the transport's own, which would close the stream of a message that is too long without a word.
final class CallHead<Connection: GRPCConnection>: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// What a message costs in addition to its bytes while it waits to be taken, in bytes.
    private static var messageCost: Int { 64 }

    private let limits: GRPCLimits
    private let calls: OpenCalls<Connection>
    private let call: OpenCall<Connection>
    /// Whether its messages come as long as it lasts, so that it cannot be late with them.
    private let streams: @Sendable (String) -> Bool
    private var name: String?
    private var path = ""
    /// Nil as long as the message is not there.
    private var kind: GRPCCallKind?
    /// The first bytes of the message that arrives: whether it is compressed, and its length.
    private var prefix: [UInt8] = []
    private var rest = 0
    private var heldBytes = 0
    private var deadline: Scheduled<Void>?
    private var isRefused = false

    init(
        _ limits: GRPCLimits, _ calls: OpenCalls<Connection>, _ call: OpenCall<Connection>,
        streams: @escaping @Sendable (String) -> Bool
    ) {
        self.limits = limits
        self.calls = calls
        self.call = call
        self.streams = streams
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .headers(let headers) where name == nil: begin(headers, context)
        case .data(let data):
            if case .byteBuffer(let bytes) = data.data, !take(bytes, context) { return }
            if data.endStream { hasArrived() }
            context.fireChannelRead(wrapInboundOut(.data(data)))
        case .rstStream(let code):
            call.cancel()
            context.fireChannelRead(wrapInboundOut(.rstStream(code)))
        case let other: context.fireChannelRead(wrapInboundOut(other))
        }
    }

    private func begin(_ headers: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) {
        var headers = headers
        let name = calls.begin(call)
        self.name = name
        path = headers.headers.first(name: ":path") ?? ""
        call.connection.callBegan()
        let metadataBytes = headers.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard metadataBytes <= limits.maximumMetadataBytes else {
            return refuse(
                .resourceExhausted, "The metadata is larger than \(limits.maximumMetadataBytes) bytes.", context)
        }
        headers.headers.replaceOrAdd(name: OpenCalls<Connection>.metadataName, value: name)
        if headers.endStream {
            hasArrived()
        } else if !streams(path) {
            deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.readTime)) {
                self.refuse(.deadlineExceeded, "The message did not arrive in time.", context)
            }
        }
        context.fireChannelRead(wrapInboundOut(.headers(headers)))
    }

    /// Notes that the client has no more to say.
    private func hasArrived() {
        deadline?.cancel()
        guard kind == nil else { return }
        let kind: GRPCCallKind = path.hasPrefix("/grpc.health.v1.") ? .watch : .work
        self.kind = kind
        call.connection.callArrived(kind)
    }

    /// Counts what has arrived; false when it is refused.
    private func take(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        var taken = bytes.readableBytes
        var view = bytes.readableBytesView[...]
        while !view.isEmpty {
            let skipped = min(rest, view.count)
            view = view.dropFirst(skipped)
            rest -= skipped
            guard rest == 0, let byte = view.popFirst() else { continue }
            prefix.append(byte)
            guard prefix.count == 5 else { continue }
            rest = prefix[1...].reduce(0) { $0 << 8 | Int($1) }
            prefix = []
            taken += Self.messageCost
            guard rest <= limits.maximumMessageBytes else {
                refuse(
                    .resourceExhausted, "The message is larger than \(limits.maximumMessageBytes) bytes.", context)
                return false
            }
        }
        heldBytes += taken
        guard call.connection.hold(bytes: taken) else {
            refuse(.unavailable, "Too much is arriving at once; try again.", context)
            return false
        }
        return true
    }

    /// Ends the call before anybody has looked at it.
    private func refuse(_ code: Status.Code, _ message: String, _ context: ChannelHandlerContext) {
        guard !isRefused else { return }
        isRefused = true
        call.cancel()
        let headers: HPACKHeaders = [
            ":status": "200", "content-type": "application/grpc", "grpc-status": String(code.rawValue),
            "grpc-message": message,
        ]
        context.write(wrapOutboundOut(.headers(.init(headers: headers, endStream: true))), promise: nil)
        // The rest of what the client has to say is of no interest (RFC 9113 section 8.1).
        context.writeAndFlush(wrapOutboundOut(.rstStream(.noError)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isRefused else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        context.write(data, promise: promise)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        // Frames that wait behind this handler are counted by `take`. Those that wait in NIOHTTP2 are not, and each takes some hundred
        // bytes more than its content.
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The transport would take it for the client's wish.
        if event is ChannelShouldQuiesceEvent { return call.drain() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        call.cancel()
        _ = call.connection.hold(bytes: -heldBytes)
        heldBytes = 0
        if let name {
            calls.end(name)
            call.connection.callEnded(kind)
        }
        context.fireChannelInactive()
    }
}

/// Remembers whose connection a stream is on, and ends the read in which it closes; HTTP/2's own handlers come next.
///
/// A socket that closes while it is read never fires `channelReadComplete` (`BaseSocketChannel.readable0`, NIO 2.101.2). NIOHTTP2 keeps a
/// list of the streams of a read until then, and the streams keep the list (`didReadChannels`, 1.46.0): both would stay forever,
/// some 28 KB for each connection and more for each stream.
final class ConnectionMark<Connection: GRPCConnection>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func channelInactive(context: ChannelHandlerContext) {
        context.fireChannelInactive()
        // In a later turn, as frames of the read may still be on their way; the handlers are removed after it.
        context.eventLoop.assumeIsolated().execute { context.fireChannelReadComplete() }
    }
}
