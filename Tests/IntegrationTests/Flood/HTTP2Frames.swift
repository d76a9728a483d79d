import Foundation

/// HTTP/2 frames as bytes, including invalid ones (RFC 9113).
enum HTTP2Frames {
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case reset = 3
        case settings = 4
        case ping = 6
        case goAway = 7
        case windowUpdate = 8
        case continuation = 9
    }

    static let endStream: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    /// The length of a frame header.
    static let headCount = 9

    /// The client preface with empty SETTINGS.
    static let opening = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(.settings)
    /// An empty DATA frame on stream 0, which is a connection error: nine zero bytes.
    static let strayData = frame(.data)

    /// A PING frame, whose content the server sends back.
    static let ping = frame(.ping, Array("PURSER-1".utf8))

    static func frame(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = withUnsafeBytes(of: UInt32(payload.count).bigEndian) { Array($0.dropFirst()) }
        return length + [kind.rawValue, flags] + bytes(stream) + payload
    }

    /// A frame, or any bytes, this many times.
    static func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        Array([[UInt8]](repeating: bytes, count: count).joined())
    }

    /// A number in network byte order.
    static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// The header fields of a call, as literals without indexing (RFC 7541 section 6.2.2).
    static func fields(_ method: String, token: String? = nil) -> [UInt8] {
        var fields = [
            (":method", "POST"), (":scheme", "http"), (":path", "/purser.v1.\(method)"), (":authority", "a"),
            ("content-type", "application/grpc"), ("te", "trailers"),
        ]
        if let token { fields.append(("authorization", "Bearer \(token)")) }
        return fields.flatMap { [0] + string($0) + string($1) }
    }

    /// A string of fewer than 127 bytes, without Huffman coding (RFC 7541 section 5.2).
    private static func string(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }

    /// A HEADERS frame that begins a call and leaves its stream open.
    static func call(_ method: String = "AppsService/ListApps", stream: UInt32 = 1, token: String? = nil) -> [UInt8] {
        frame(.headers, flags: endHeaders, stream: stream, fields(method, token: token))
    }

    /// An RST_STREAM frame with CANCEL (RFC 9113 section 7).
    static func reset(stream: UInt32) -> [UInt8] { frame(.reset, stream: stream, bytes(8)) }

    /// HEADERS frames of so many calls.
    ///
    /// `first`: the number of calls before them on the connection; `areReset`: whether an RST_STREAM frame follows each.
    static func calls(_ count: Int, after first: Int = 0, areReset: Bool = false) -> [UInt8] {
        var frames: [UInt8] = []
        for number in first..<first + count {
            let stream = UInt32(2 * number + 1)
            frames += call(stream: stream)
            if areReset { frames += reset(stream: stream) }
        }
        return frames
    }

    /// A gRPC message in DATA frames, of which the last ends the stream.
    static func message(_ bytes: [UInt8], stream: UInt32 = 1) -> [UInt8] {
        let content = [0] + self.bytes(UInt32(bytes.count)) + bytes
        let starts = stride(from: 0, to: content.count, by: 16_384)
        return starts.flatMap { start in
            let end = min(start + 16_384, content.count)
            return frame(
                .data, flags: end == content.count ? endStream : 0, stream: stream, Array(content[start..<end]))
        }
    }

    /// A Protocol Buffers message whose field 1 is a string.
    static func firstField(_ text: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = text.count
        while rest > 0x7F {
            length.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return [0x0A] + length + [UInt8(rest)] + text
    }
}
