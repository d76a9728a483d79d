import Glibc
import NIOCore
import NIOHPACK

/// Reads what a client sends by HTTP/2 before the transport does, and closes the connection of a client that breaks a rule.
///
/// NIOHTTP2 and grpc-swift compare and hash header fields as strings, some before any handler of a stream sees them. Unicode makes
/// some strings cost the square of their length, and the dynamic table of HPACK repeats one with a byte. So a field's name and value
/// contain U+0020 to U+007E only, as gRPC has it. Frames that carry nothing are bounded, since each costs the transport more than
/// its nine bytes cost the client.
///
/// It is the first handler of a connection behind TLS.
///
/// Source: RFC 9113, sections 4.1, 6 and 10.5; "ASCII-Value" in PROTOCOL-HTTP2.md of gRPC
final class FrameGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The longest header block of a request, compressed, in bytes: what the transport takes decompressed.
    static let maximumHeaderBytes = GRPCLimits.mostMetadataBytes
    /// How many frames that carry neither a request's head nor its content a connection may send within a second: SETTINGS, PING,
    /// PRIORITY, WINDOW_UPDATE, RST_STREAM, CONTINUATION, and DATA that is empty or padded.
    static let maximumIdleFrames = 10_000
    /// How many of those may be DATA that does not end its stream; the libraries of gRPC send none.
    static let maximumEmptyData = 100

    /// Why a connection is closed.
    enum Fault: Error, Equatable {
        case characters(field: String)
        case headersTooLong
        case headersUnreadable
        case tooManyIdleFrames
        case tooMuchEmptyData
        case streamZero
    }

    private enum State {
        /// Bytes of the connection preface that are still to come.
        case preface(Int)
        case frameHeader
        /// Bytes of the frame that are still to come.
        case payload(Int)
    }

    private enum FrameType {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let resetStream: UInt8 = 3
        static let continuation: UInt8 = 9
        static let carriesContent: Set<UInt8> = [data, headers]
    }

    private enum Flag {
        static let endStream: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    private static let prefaceLength = 24
    private static let frameHeaderLength = 9

    private var state = State.preface(prefaceLength)
    private var header: [UInt8] = []
    /// The header block that arrives, without padding and priority; nil outside one.
    private var block: ByteBuffer?
    private var isLastOfBlock = false
    /// The payload of the frame of a header block that arrives.
    private var piece: ByteBuffer?
    private var flags: UInt8 = 0
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private var idleFrames = 0
    private var emptyData = 0
    private var secondBegan = NIODeadline.uptimeNanoseconds(0)
    private var isClosing = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        let bytes = unwrapInboundIn(data)
        do {
            try examine(bytes, now: .now())
        } catch {
            // Nothing of it reaches the transport.
            isClosing = true
            return context.close(promise: nil)
        }
        context.fireChannelRead(data)
    }

    /// Walks over the frames of what has arrived.
    ///
    /// - Throws: `Fault`
    func examine(_ bytes: ByteBuffer, now: NIODeadline) throws {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            switch state {
            case .preface(let left):
                let count = min(left, bytes.readableBytes)
                bytes.moveReaderIndex(forwardBy: count)
                state = count == left ? .frameHeader : .preface(left - count)
            case .frameHeader:
                let count = min(Self.frameHeaderLength - header.count, bytes.readableBytes)
                header += bytes.readBytes(length: count) ?? []
                if header.count == Self.frameHeaderLength { try frameBegins(now: now) }
            case .payload(let left):
                let count = min(left, bytes.readableBytes)
                if piece != nil, var part = bytes.readSlice(length: count) {
                    piece?.writeBuffer(&part)
                } else {
                    bytes.moveReaderIndex(forwardBy: count)
                }
                state = .payload(left - count)
                if count == left { try frameEnds() }
            }
        }
    }

    private func frameBegins(now: NIODeadline) throws {
        let length = header[..<3].reduce(0) { $0 << 8 | Int($1) }
        let (type, flags) = (header[3], header[4])
        let stream = header[5...].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        header.removeAll(keepingCapacity: true)
        self.flags = flags
        let isEmptyData = type == FrameType.data && (length == 0 || flags & Flag.padded != 0)
        if !FrameType.carriesContent.contains(type) || isEmptyData {
            try countIdleFrame(isEmptyData: isEmptyData && flags & Flag.endStream == 0, now: now)
        }
        if FrameType.carriesContent.contains(type) || type == FrameType.resetStream {
            guard stream != 0 else { throw Fault.streamZero }
        }
        if type == FrameType.headers || type == FrameType.continuation {
            let before = block?.readableBytes ?? 0
            guard before + length <= Self.maximumHeaderBytes else { throw Fault.headersTooLong }
            if type == FrameType.headers {
                block = ByteBuffer()
            } else {
                // Padding and priority are the first frame's.
                self.flags &= Flag.endHeaders
            }
            if block != nil {
                piece = ByteBuffer()
                isLastOfBlock = flags & Flag.endHeaders != 0
            }
        }
        state = .payload(length)
        if length == 0 { try frameEnds() }
    }

    private func frameEnds() throws {
        state = .frameHeader
        guard var piece = piece.take() else { return }
        // A header block contains the caller's token, and freed memory keeps what it held.
        let arrived = piece
        defer { arrived.wipe() }
        if flags & Flag.padded != 0 {
            guard let padding = piece.readInteger(as: UInt8.self), Int(padding) <= piece.readableBytes else {
                throw Fault.headersUnreadable
            }
            piece = piece.getSlice(at: piece.readerIndex, length: piece.readableBytes - Int(padding)) ?? piece
        }
        // Dependency and weight.
        if flags & Flag.priority != 0, piece.readBytes(length: 5) == nil { throw Fault.headersUnreadable }
        block?.writeBuffer(&piece)
        guard isLastOfBlock, var block = block.take() else { return }
        defer { block.wipe() }
        try check(&block)
    }

    private func check(_ block: inout ByteBuffer) throws {
        let headers: HPACKHeaders
        do {
            headers = try decoder.decodeHeaders(from: &block)
        } catch {
            throw Fault.headersUnreadable
        }
        for (name, value, _) in headers {
            guard Self.isVisible(name), Self.isVisible(value) else {
                throw Fault.characters(field: Self.isVisible(name) ? name : "")
            }
        }
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    private func countIdleFrame(isEmptyData: Bool, now: NIODeadline) throws {
        if now - secondBegan >= .seconds(1) { (secondBegan, idleFrames, emptyData) = (now, 0, 0) }
        idleFrames += 1
        guard idleFrames <= Self.maximumIdleFrames else { throw Fault.tooManyIdleFrames }
        if isEmptyData { emptyData += 1 }
        guard emptyData <= Self.maximumEmptyData else { throw Fault.tooMuchEmptyData }
    }
}

extension ByteBuffer {
    /// Overwrites the whole memory of a buffer that nothing else is read from.
    fileprivate func wipe() {
        withVeryUnsafeBytes { bytes in
            guard let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress) else { return }
            explicit_bzero(start, bytes.count)
        }
    }
}
