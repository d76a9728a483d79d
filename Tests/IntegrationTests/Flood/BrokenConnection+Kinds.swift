import Foundation

extension BrokenConnection {
    /// The kinds that are played at a listener.
    static func kinds(of listener: String) -> [BrokenConnection] {
        listener == "grpc" ? framed : plain(listener == "webhook" ? "/webhooks/apple/coins" : "/v1/apps")
    }

    /// What a client sends to a listener that the listener answers in any case.
    static func question(for listener: String) -> [UInt8] { listener == "grpc" ? HTTP2Frames.opening : get }

    // MARK: HTTP/1.1

    private static let get = Array("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

    /// `target`: the path of requests with a body.
    private static func plain(_ target: String) -> [BrokenConnection] {
        func post(_ length: String, _ body: String) -> [UInt8] {
            Array(
                "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\(length)\r\n\r\n\(body)".utf8)
        }
        return [
            BrokenConnection("silent", [], .close),
            BrokenConnection("half-head", Array("GET /nothing HTTP/1.1\r\nHost: a\r\nX-".utf8), .reset),
            BrokenConnection(
                "half-body", post("Content-Length: 4000", String(repeating: " ", count: 2000)), .close),
            BrokenConnection("garbage", (0..<512).map { UInt8(truncatingIfNeeded: $0 * 167 + 1) }, .waits),
            BrokenConnection(
                "long-head",
                Array("GET / HTTP/1.1\r\nHost: a\r\nX-Long: \(String(repeating: "x", count: 40_000))\r\n\r\n".utf8),
                .waits),
            BrokenConnection("bad-chunk", post("Transfer-Encoding: chunked", "2\r\n{}\r\nzz\r\n"), .waits),
            BrokenConnection(
                "two-lengths", post("Content-Length: 2\r\nContent-Length: 3", "{}"), .waits),
            BrokenConnection("reset-request", get, .answered),
            BrokenConnection(
                "pipelined", HTTP2Frames.repeated(get, 50), .answered),
            clientHello,
        ]
    }

    /// The start of a TLS handshake, on a listener without TLS.
    private static let clientHello = BrokenConnection(
        "client-hello", [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3] + [UInt8](repeating: 0, count: 506), .waits)

    // MARK: HTTP/2

    /// A call that is open when DATA on stream 0 breaks the connection.
    static let unfinishedCall = BrokenConnection(
        "unfinished-call", HTTP2Frames.opening + HTTP2Frames.call() + HTTP2Frames.strayData, .waits)

    private static let framed: [BrokenConnection] = {
        let (opening, call) = (HTTP2Frames.opening, HTTP2Frames.call())
        let calls = HTTP2Frames.calls(50)
        let empty = HTTP2Frames.repeated(HTTP2Frames.frame(.data, stream: 1), 100)
        let cancelled = HTTP2Frames.calls(5, areReset: true)
        let settings = HTTP2Frames.repeated(HTTP2Frames.frame(.settings), 20)
        let start = HTTP2Frames.frame(.headers, stream: 1, HTTP2Frames.fields("AppsService/ListApps"))
        let field: [UInt8] = [0, 1, UInt8(ascii: "x"), 0]
        let more = HTTP2Frames.repeated(HTTP2Frames.frame(.continuation, stream: 1, field), 100)
        let window = HTTP2Frames.frame(.windowUpdate, HTTP2Frames.bytes(0x7FFF_FFFF))
        // No table has an entry 127.
        let unknownField = HTTP2Frames.frame(.headers, flags: HTTP2Frames.endHeaders, stream: 1, [0xFF, 0])
        let goAway = HTTP2Frames.frame(.goAway, [UInt8](repeating: 0, count: 8))
        let open = opening + call
        // The server reads 2,048 bytes first; the frame that breaks the connection comes with its second read.
        let filler = [UInt8](repeating: 0, count: 2048 - open.count - HTTP2Frames.headCount)
        let twoReads = open + HTTP2Frames.frame(.data, stream: 1, filler) + HTTP2Frames.strayData
        // A length of 16,777,215 bytes, where 16,384 are allowed (RFC 9113 section 4.2).
        let longFrame = [0xFF, 0xFF, 0xFF] + HTTP2Frames.frame(.data, stream: 1).dropFirst(3)
        let idleData = HTTP2Frames.frame(.data, stream: 99, [0])
        let pings = HTTP2Frames.repeated(HTTP2Frames.ping, 300)
        let resets = HTTP2Frames.repeated(HTTP2Frames.reset(stream: 1), 300)
        return [
            unfinishedCall,
            BrokenConnection("unfinished-calls", opening + calls + HTTP2Frames.strayData, .waits),
            BrokenConnection("silent", [], .close),
            BrokenConnection("half-preface", Array(opening.prefix(12)), .close),
            BrokenConnection("unknown-field", opening + unknownField, .waits),
            BrokenConnection("stray-data", opening + HTTP2Frames.strayData, .waits),
            BrokenConnection("rapid-reset", opening + cancelled + HTTP2Frames.ping, .echoed),
            BrokenConnection("continuations", opening + start + more, .waits),
            BrokenConnection("rapid-reset-and-error", opening + cancelled + HTTP2Frames.strayData, .waits),
            BrokenConnection("settings", opening + settings + HTTP2Frames.ping, .echoed),
            BrokenConnection("window-overflow", opening + call + window, .waits),
            BrokenConnection("empty-data", opening + call + empty, .waits),
            BrokenConnection("half-call", opening + call + HTTP2Frames.ping, .echoed),
            BrokenConnection("go-away", opening + call + goAway, .close),
            BrokenConnection("open-reset", open, .resetAtOnce),
            BrokenConnection("two-reads", twoReads, .waits),
            BrokenConnection("oversized-frame", open + longFrame, .waits),
            BrokenConnection("idle-data", open + idleData, .waits),
            BrokenConnection("pings", open + pings, .waits),
            BrokenConnection("resets", open + resets, .waits),
            BrokenConnection("request-of-http1", Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), .waits),
            clientHello,
        ]
    }()
}
