import Curl
import Foundation
import TestSupport
import Testing

/// What of a response reaches the caller.
struct CurlResponseTests {
    @Test(
        "Headers are found whatever their case, repeated ones are all kept",
        arguments: [LoopbackServer.Options(), .http1])
    func headers(_ options: LoopbackServer.Options) async throws {
        let headers = [("X-One", "1"), ("X-Many", "a"), ("x-many", " b "), ("X-Empty", "")]
        try await CurlFixture.run(
            options, handler: { _ in .init(status: 404, headers: headers, "missing") },
            during: {
                client, server in
                let response = try await client.perform(.patient(.get, server.url))
                #expect(response.status == 404)
                #expect(response.headers["x-one"] == "1")
                #expect(response.headers["X-ONE"] == "1")
                #expect(response.headers["X-Many"] == "a")
                #expect(response.headers.values(of: "X-MANY") == ["a", "b"])
                #expect(response.headers["x-empty"] == "")
                #expect(response.headers["x-none"] == nil)
                #expect(response.headers["content-length"] == "7")
                #expect(response.body == Array("missing".utf8))
            })
    }

    @Test("Interim responses and trailers leave no trace", arguments: [LoopbackServer.Options(), .http1])
    func interimResponses(_ options: LoopbackServer.Options) async throws {
        try await CurlFixture.run(
            options,
            handler: { _ in
                var response = LoopbackServer.Response(headers: [("X-Final", "1")], "final")
                response.interim = [(103, [("X-Interim", "1")]), (103, [("X-Interim", "2")])]
                response.trailers = [("X-Trailer", "1")]
                return response
            },
            during: { client, server in
                let response = try await client.perform(.patient(.get, server.url, headers: [("TE", "trailers")]))
                #expect(response.status == 200)
                #expect(response.body == Array("final".utf8))
                #expect(response.headers["x-final"] == "1")
                #expect(response.headers["x-interim"] == nil)
                #expect(response.headers["x-trailer"] == nil)
            })
    }

    @Test("A redirect is a response like any other")
    func redirect() async throws {
        try await CurlFixture.run(
            handler: { _ in .init(status: 302, headers: [("Location", "/elsewhere")]) },
            during: {
                client, server in
                let response = try await client.perform(.patient(.get, server.url + "/here"))
                #expect(response.status == 302)
                #expect(response.headers["location"] == "/elsewhere")
                #expect(server.requests.map(\.path) == ["/here"])
            })
    }

    /// RFC 9110 section 10.2.3; the server's own date is what one of a wait counts from.
    @Test(
        "A server's wish to be left alone is read as seconds and as a date",
        arguments: [
            ("120", Duration.seconds(120)), ("0", .zero), ("Fri, 31 Dec 1999 23:59:59 GMT", .seconds(59)),
            ("Friday, 31-Dec-99 23:59:59 GMT", .seconds(59)), ("Fri Dec 31 23:59:59 1999", .seconds(59)),
            ("Fri, 31 Dec 1999 23:58:59 GMT", .zero), ("99999999999999999999999", .seconds(365 * 86_400)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(365 * 86_400)), ("soon", nil), ("-5", nil), ("1.5", nil),
            ("", nil),
        ])
    func retryAfter(_ text: String, _ expected: Duration?) async throws {
        let date = "Fri, 31 Dec 1999 23:59:00 GMT"
        try await CurlFixture.run(
            handler: { request in
                let dates = request.path == "/dated" ? [("Date", date)] : []
                return .init(status: 503, headers: [("Retry-After", text)] + dates)
            },
            during: { client, server in
                let dated = try await client.perform(.patient(.get, "\(server.url)/dated"))
                #expect(dated.headers.retryAfter(at: Date(timeIntervalSince1970: 0)) == expected)
                let undated = try await client.perform(.patient(.get, server.url))
                #expect(undated.headers.retryAfter(at: Date(timeIntervalSince1970: 946_684_740)) == expected)
            })
    }

    @Test("Cookies are not kept")
    func cookies() async throws {
        try await CurlFixture.run(
            handler: { _ in .init(headers: [("Set-Cookie", "a=b")]) },
            during: { client, server in
                for _ in 0..<2 { _ = try await client.perform(.patient(.get, server.url)) }
                #expect(server.requests.count == 2)
                #expect(server.requests.allSatisfy { $0.header("cookie") == nil })
            })
    }

    @Test("Content up to the limit is taken, more is an error", arguments: [LoopbackServer.Options(), .http1])
    func contentLimit(_ options: LoopbackServer.Options) async throws {
        let body = [UInt8](repeating: 7, count: 100_000)
        try await CurlFixture.run(
            options, handler: { _ in .init(body: body) },
            during: { client, server in
                let response = try await client.perform(.patient(.get, server.url, maximumResponseBytes: 100_000))
                #expect(response.body == body)
                let error = await CurlFixture.failure(
                    of: .patient(.get, server.url, maximumResponseBytes: 99_999), by: client)
                #expect(error?.kind == .responseTooLarge)
                #expect(error?.detail == "the content exceeds 99999 bytes")
                #expect(error?.requestMayHaveBeenSent == true)
                let next = try await client.perform(.patient(.get, server.url))
                #expect(next.body == body)
            })
    }

    @Test("A header beyond the limit is an error", arguments: [LoopbackServer.Options(), .http1])
    func headerLimit(_ options: LoopbackServer.Options) async throws {
        try await CurlFixture.run(
            options, configure: { $0.maximumHeaderBytes = 1_000 },
            handler: { _ in .init(headers: [("X-Long", String(repeating: "x", count: 1_000))]) },
            during: { client, server in
                let error = await CurlFixture.failure(of: .patient(.get, server.url), by: client)
                #expect(error?.kind == .responseTooLarge)
                #expect(error?.detail == "the header exceeds 1000 bytes")
            })
    }

    @Test(
        "A connection that is reset in the middle is an error, and the request may have arrived",
        arguments: [LoopbackServer.Options(), .http1])
    func brokenOff(_ options: LoopbackServer.Options) async throws {
        try await CurlFixture.run(
            options,
            handler: { _ in
                var response = LoopbackServer.Response(body: [UInt8](repeating: 1, count: 50_000))
                response.breaksOffAfter = 20_000
                return response
            },
            during: { client, server in
                let error = try #require(
                    await CurlFixture.failure(of: .patient(.put, server.url, body: [1]), by: client))
                #expect(error.kind == .connectionLost || error.kind == .protocolError, "\(error)")
                #expect(error.requestMayHaveBeenSent)
                #expect(error.code > 0)
                #expect(!error.text.isEmpty)
            })
    }

    @Test("A response tells its times and whether the connection was there already")
    func times() async throws {
        try await CurlFixture.run { client, server in
            let first = try await client.perform(.patient(.get, server.url))
            let second = try await client.perform(.patient(.get, server.url))
            #expect(!first.connectionWasReused)
            #expect(second.connectionWasReused)
            #expect(first.connect > .zero)
            #expect(first.total >= first.connect)
            #expect(server.connectionCount == 1)
        }
    }
}
