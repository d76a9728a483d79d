import NIOCore
import NIOEmbedded
import NIOHPACK
import TestSupport
import Testing

@testable import GRPCAPI

/// What of HTTP/2 reaches the transport, and what ends its connection.
struct FrameGuardTests {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let settings = frame(4, stream: 0)

    private static func frame(_ type: UInt8, _ flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8] = []) -> [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
            + (0..<4).map { UInt8(stream >> (24 - 8 * UInt32($0)) & 0xFF) } + payload
    }

    /// A header block; several of one encoder share its table.
    private static func block(_ fields: HPACKHeaders, _ encoder: inout HPACKEncoder) throws -> [UInt8] {
        var buffer = ByteBuffer()
        try encoder.encode(headers: fields, to: &buffer)
        return Array(buffer.readableBytesView)
    }

    private static func block(_ fields: HPACKHeaders) throws -> [UInt8] {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        return try block(fields, &encoder)
    }

    private static let call: HPACKHeaders = [
        ":method": "POST", ":scheme": "http", ":path": "/purser.v1.AppsService/ListApps", "te": "trailers",
        "content-type": "application/grpc", "authorization": "Bearer x",
    ]

    /// Examines bytes in pieces of this size.
    private func examine(_ bytes: [UInt8], piece: Int = .max) throws {
        let guarding = FrameGuard()
        var rest = (Self.preface + Self.settings + bytes)[...]
        while !rest.isEmpty {
            try guarding.examine(ByteBuffer(bytes: rest.prefix(piece)), now: .uptimeNanoseconds(0))
            rest = rest.dropFirst(piece)
        }
    }

    @Test(arguments: [1, 2, 7, 9, 100, Int.max]) func `calls pass, in whatever pieces they come`(piece: Int) throws {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var bytes: [UInt8] = []
        for stream in [1, 3, 5] as [UInt32] {
            let block = try Self.block(Self.call, &encoder)
            bytes += Self.frame(1, 0, stream: stream, Array(block.prefix(5)))
            bytes += Self.frame(9, 4, stream: stream, Array(block.dropFirst(5)))
            bytes += Self.frame(0, 1, stream: stream, [0, 0, 0, 0, 1, 9])
            bytes += Self.frame(8, stream: 0, [0, 0, 1, 0]) + Self.frame(6, stream: 0, Array(repeating: 0, count: 8))
        }
        // Padding and priority stand around the first piece of a block.
        let block = try Self.block(Self.call, &encoder)
        bytes += Self.frame(1, 0x4 | 0x8 | 0x20, stream: 7, [2, 0, 0, 0, 0, 16] + block + [0, 0])
        try examine(bytes, piece: piece)
    }

    @Test(arguments: HostileText.allCases) func `a field with other than visible ASCII ends the connection`(
        shape: HostileText
    ) throws {
        let text = shape.text(bytes: 2 << 10)
        for name in ["te", ":method", "grpc-timeout", "anything"] {
            var fields = Self.call
            fields.replaceOrAdd(name: name, value: text)
            let block = try Self.block(fields)
            #expect(throws: FrameGuard.Fault.characters(field: name)) {
                try examine(Self.frame(1, 4, stream: 1, block))
            }
        }
        // Also where the table of an earlier call has it, and in trailers.
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        let first = Self.frame(1, 4, stream: 1, try Self.block(Self.call, &encoder))
        let second = Self.frame(1, 5, stream: 1, try Self.block(["x": shape.text(bytes: 1 << 10)], &encoder))
        #expect(throws: FrameGuard.Fault.characters(field: "x")) { try examine(first + second) }
    }

    @Test func `a header block is bounded, whether it comes in one piece or in many`() throws {
        let long = [UInt8](repeating: 0x82, count: FrameGuard.maximumHeaderBytes + 1)
        #expect(throws: FrameGuard.Fault.headersTooLong) { try examine(Self.frame(1, 4, stream: 1, long)) }
        let pieces =
            Self.frame(1, 0, stream: 1, [0x82])
            + Array(repeating: Self.frame(9, 0, stream: 1, Array(long.prefix(4096))), count: 5).joined()
        #expect(throws: FrameGuard.Fault.headersTooLong) { try examine(pieces) }
    }

    @Test(arguments: [[0xBF], [0x00, 0x05], [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]] as [[UInt8]])
    func `an unreadable header block ends the connection`(_ block: [UInt8]) {
        #expect(throws: FrameGuard.Fault.headersUnreadable) { try examine(Self.frame(1, 4, stream: 1, block)) }
    }

    @Test(arguments: [0, 1, 3] as [UInt8]) func `a frame of a stream must name one`(_ type: UInt8) {
        #expect(throws: FrameGuard.Fault.streamZero) { try examine(Self.frame(type, 4, stream: 0)) }
    }

    @Test(arguments: [3, 4, 6, 8, 9] as [UInt8]) func `frames without content are bounded within a second`(
        _ type: UInt8
    ) throws {
        let frame = Self.frame(type, stream: 1)
        // The SETTINGS of the preface count, too.
        let most = FrameGuard.maximumIdleFrames - 1
        try examine(Array(repeating: frame, count: most).flatMap(\.self))
        #expect(throws: FrameGuard.Fault.tooManyIdleFrames) {
            try examine(Array(repeating: frame, count: most + 1).flatMap(\.self))
        }
        let guarding = FrameGuard()
        try guarding.examine(ByteBuffer(bytes: Self.preface), now: .uptimeNanoseconds(0))
        for second in 0..<3 as Range<UInt64> {
            let frames = Array(repeating: frame, count: FrameGuard.maximumIdleFrames).flatMap(\.self)
            try guarding.examine(ByteBuffer(bytes: frames), now: .uptimeNanoseconds((second + 1) * 2_000_000_000))
        }
    }

    @Test func `DATA that is empty or padded is bounded, unless it ends its stream`() throws {
        let most = FrameGuard.maximumEmptyData
        for frame in [
            Self.frame(0, stream: 1), Self.frame(0, 8, stream: 1, [0]), Self.frame(0, 8, stream: 1, [3, 0, 0, 0]),
        ] {
            try examine(Array(repeating: frame, count: most).flatMap(\.self))
            #expect(throws: FrameGuard.Fault.tooMuchEmptyData) {
                try examine(Array(repeating: frame, count: most + 1).flatMap(\.self))
            }
        }
        let last = Self.frame(0, 1, stream: 1)
        try examine(Array(repeating: last, count: 10 * most).flatMap(\.self))
    }

    /// Keeps what reaches the transport.
    private final class Transport: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var bytes: [UInt8] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += unwrapInboundIn(data).readableBytesView
        }
    }

    @Test func `the connection of a bad field is closed, and none of the field reaches the transport`() throws {
        let (channel, transport) = (EmbeddedChannel(), Transport())
        try channel.pipeline.syncOperations.addHandlers([FrameGuard(), transport])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        let good = Self.preface + Self.settings + Self.frame(1, 5, stream: 1, try Self.block(Self.call, &encoder))
        try channel.writeInbound(ByteBuffer(bytes: good))
        #expect(channel.isActive)
        var fields = Self.call
        fields.add(name: "x", value: "é")
        let bad = Self.frame(1, 5, stream: 3, try Self.block(fields, &encoder))
        try channel.writeInbound(ByteBuffer(bytes: bad))
        try channel.writeInbound(ByteBuffer(bytes: good))
        #expect(!channel.isActive)
        #expect(transport.bytes == good)
    }
}
