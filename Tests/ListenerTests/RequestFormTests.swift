import HTTPTypes
import HummingbirdCore
import Listener
import NIOCore
import TestSupport
import Testing

/// Bytes that two readers could take for different requests are taken for none.
///
/// Behind each there is a whole request on the same connection, which nobody may answer.
@Suite(.endsHangs) struct RequestFormTests {
    private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: test\r\n\r\n"
    private static let host = "Host: test\r\n"
    private static let get = "GET / HTTP/1.1\r\n"
    private static let post = "POST / HTTP/1.1\r\n" + host
    private static let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"

    private func expectOnly(_ status: Int, to bytes: String) async throws {
        try await ListenerFixture.with {
            $0.maximumBodyBytes = 20
            $0.maximumHeaderBytes = 1000
        } test: { fixture in
            let client = try await fixture.connect()
            try await client.send(bytes + Self.smuggled)
            let response = try await client.response()
            #expect(response.status == status)
            #expect(response.headers["connection"] == "close")
            #expect(response.headers["content-type"] == "application/problem+json")
            #expect(response.body.contains(#""status":\#(status)}"#))
            #expect(try await client.end().isEmpty)
            #expect(fixture.gate.arrivals == 0, "nobody has seen a request")
        }
    }

    @Test(arguments: [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab",
        "Content-Length: 2, 2\r\n\r\nab", "Content-Length: +2\r\n\r\nab", "Content-Length: -2\r\n\r\nab",
        "Content-Length: 0x2\r\n\r\nab", "Content-Length: 1 2\r\n\r\nab", "Content-Length:\r\n\r\n",
        "Content-Length: 99999999999999999999999\r\n\r\n", "Content-Length : 2\r\n\r\nab",
        "Transfer-Encoding: gzip\r\n\r\n", "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", "Transfer-Encoding: identity\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding:\r\n\r\n", "Transfer-Encoding: \u{B}chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    ])
    func `a body whose length can be read twice`(_ fields: String) async throws {
        try await expectOnly(400, to: Self.post + fields)
    }

    @Test(arguments: [
        "A: b\r\n c\r\n\r\n", "A: b\r\n\tc\r\n\r\n", "A: b\nB: c\r\n\r\n", "\n", "A: b\rC: d\r\n\r\n", "\r\r\n",
        "A : b\r\n\r\n", "A\r\n\r\n", ": b\r\n\r\n", "A: b\0c\r\n\r\n", "A\0: b\r\n\r\n", "A: b\u{1}c\r\n\r\n",
        "A(b): c\r\n\r\n", "\u{E9}: c\r\n\r\n",
    ])
    func `a field that is folded, broken or not ended as it should be`(_ fields: String) async throws {
        try await expectOnly(400, to: Self.get + Self.host + fields)
        try await expectOnly(400, to: Self.get + fields)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: test\r\nHost: other\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: test\r\nhOST: test\r\n\r\n", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a@b/c\r\n\r\n", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET http://test/ HTTP/1.1\r\nHost: test\r\n\r\n", "GET http://other/ HTTP/1.1\r\nHost: test\r\n\r\n",
        "GET test:80 HTTP/1.1\r\nHost: test\r\n\r\n", "GET * HTTP/1.1\r\nHost: test\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n", "CONNECT test:80 HTTP/1.1\r\nHost: test\r\n\r\n",
    ])
    func `a target or host of somebody else`(_ request: String) async throws {
        try await expectOnly(400, to: request)
    }

    @Test(arguments: [
        "Connection", "Content-Length", "Expect", "Host", "Transfer-Encoding", "Upgrade", "cOnNeCtIoN",
    ])
    func `a field that decides how the connection is read must be visible ASCII`(_ name: String) async throws {
        for shape in HostileText.allCases {
            try await ListenerFixture.with {
                $0.maximumHeaderBytes = 32 << 10
            } test: { fixture in
                let client = try await fixture.connect()
                let host = name == "Host" ? "" : Self.host
                try await client.send(
                    "\(Self.get)\(host)\(name): \(shape.text(bytes: 28 << 10))\r\n\r\n\(Self.smuggled)")
                let response = try await client.response()
                #expect(response.status == 400)
                #expect(response.body.contains("header field `\(name.lowercased())`") || name == "Content-Length")
                #expect(try await client.end().isEmpty)
                #expect(fixture.gate.arrivals == 0, "nobody has seen a request")
            }
        }
    }

    @Test func `other fields may contain anything but control characters`() async throws {
        try await ListenerFixture.with {
            $0.maximumHeaderBytes = 32 << 10
        } test: { fixture in
            let client = try await fixture.connect()
            let text = HostileText.descendingMarks.text(bytes: 28 << 10)
            fixture.gate.open()
            try await client.send("\(Self.get)\(Self.host)X-Other: \(text)\r\nConnection: close\r\n\r\n")
            #expect(try await client.response().status == 200)
        }
    }

    @Test(arguments: [
        ("NONSENSE\r\n\r\n", 400), ("GET  HTTP/1.1\r\n\r\n", 400), ("GET\t/\tHTTP/1.1\r\n", 400),
        ("GET /a b HTTP/1.1\r\n", 400), ("GET /\0 HTTP/1.1\r\n", 400), ("get / HTTP/1.1\r\n", 400),
        (" GET / HTTP/1.1\r\n", 400), ("GET / http/1.1\r\n", 400), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\n\r\n", 505), ("GET / HTTP/1.2\r\n\r\n", 505), ("GET /\r\n\r\n", 505),
        ("GET / HTTP/1.1\nHost: test\n\n", 505), ("GET / HTTP/1.1x\r\n", 505),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ])
    func `a first line or version of something else`(_ request: String, _ status: Int) async throws {
        try await expectOnly(status, to: request)
    }

    @Test(arguments: [
        ("1\nx\r\n0\r\n\r\n", 400), ("1\r\nx\n0\r\n\r\n", 400), ("1\r\nxy\r\n0\r\n\r\n", 400), ("0\n\n", 400),
        ("1 \r\nx\r\n0\r\n\r\n", 400), ("0x1\r\nx\r\n0\r\n\r\n", 400), ("+1\r\nx\r\n0\r\n\r\n", 400),
        ("-1\r\nx\r\n0\r\n\r\n", 400), ("\r\nx\r\n0\r\n\r\n", 400), ("1;a\nx\r\n0\r\n\r\n", 400),
        ("1;a=\"b\r\n\"\r\nx\r\n0\r\n\r\n", 400), ("10000000000000001\r\nx\r\n0\r\n\r\n", 400),
        ("ffffffffffffffffff\r\nx\r\n0\r\n\r\n", 400), ("0\r\nContent-Length: 5\r\n\r\n", 400),
        ("0\r\nTransfer-Encoding: chunked\r\n\r\n", 400), ("ffffffffffffffff\r\nx\r\n0\r\n\r\n", 413),
        ("8000000000000000\r\nx\r\n0\r\n\r\n", 413), ("15\r\nabcdefghijklmnopqrstu\r\n0\r\n\r\n", 413),
    ])
    func `chunks that are no chunks, or too many`(_ body: String, _ status: Int) async throws {
        try await expectOnly(status, to: Self.chunked + body)
    }

    /// More than an integer holds, which is not the same as none.
    @Test func `a length that cannot be`() async throws {
        try await expectOnly(413, to: Self.post + "Content-Length: 9223372036854775808\r\n\r\n")
        try await expectOnly(413, to: Self.post + "Content-Length: 18446744073709551615\r\n\r\n")
    }

    @Test(arguments: [
        ("Content-Length: 2 \r\n\r\nab", "ab"), ("Content_Length: 2\r\n\r\n", ""),
        ("Transfer-Encoding: Chunked\r\n\r\n1;a=b\r\nx\r\n0\r\nHost: other\r\n\r\n", "x"),
        ("Connection: content-length\r\nContent-Length: 2\r\n\r\nab", "ab"),
    ])
    func `what can be read in one way only is read so`(_ fields: String, _ body: String) async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            try await client.send(Self.post + fields + Self.smuggled)
            #expect(try await client.response().body == "POST / \(body)")
            #expect(try await client.response().body == "GET /smuggled ")
        }
    }

    @Test(arguments: ["", "Connection: keep-alive\r\n"])
    func `HTTP 1.0 needs no host, and its answer ends the connection`(_ field: String) async throws {
        try await ListenerFixture.with { fixture in
            let client = try await fixture.connect()
            try await client.send("GET /old HTTP/1.0\r\n\(field)\r\n")
            let response = try await client.response()
            #expect(response.body == "GET /old ")
            #expect(response.headers["connection"] == "close")
            #expect(try await client.end().isEmpty)
        }
    }
}
