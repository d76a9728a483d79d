import Curl
import TestSupport
import Testing

/// What of a request reaches the server.
struct CurlRequestTests {
    @Test(
        "Method, path, headers and content arrive as given",
        arguments: [CurlRequest.Method.post, .put, .patch, .delete])
    func content(_ method: CurlRequest.Method) async throws {
        let body = Array(#"{"a":"é"}"#.utf8)
        try await CurlFixture.run(
            handler: { .init(body: $0.body) },
            during: { client, server in
                let response = try await client.perform(
                    .patient(
                        method, server.url + "/a%2Fb/../c?d=e&f=%20",
                        headers: [("Content-Type", "application/json"), ("X-One", "1")],
                        body: body))
                #expect(response.status == 200)
                #expect(response.body == body)
                let request = try #require(server.requests.first)
                #expect(request.method == method.rawValue)
                #expect(request.path == "/a%2Fb/../c?d=e&f=%20")
                #expect(request.header("content-type") == "application/json")
                #expect(request.header("x-one") == "1")
                #expect(request.header("content-length") == String(body.count))
            })
    }

    @Test("A large content arrives whole", arguments: [LoopbackServer.Options(), .http1])
    func largeContent(_ options: LoopbackServer.Options) async throws {
        let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        try await CurlFixture.run(
            options, handler: { .init(body: $0.body) },
            during: { client, server in
                let response = try await client.perform(.patient(.put, server.url, body: body))
                #expect(response.body == body)
            })
    }

    @Test("Nothing is sent that nobody asked for", arguments: [CurlRequest.Method.get, .post])
    func noUnaskedHeaders(_ method: CurlRequest.Method) async throws {
        try await CurlFixture.run { client, server in
            _ = try await client.perform(.patient(method, server.url, body: method == .post ? Array("x".utf8) : nil))
            let request = try #require(server.requests.first)
            for name in ["expect", "accept", "accept-encoding", "user-agent", "cookie", "authorization"] {
                #expect(request.header(name) == nil, "\(name)")
            }
            #expect(request.header("content-type") == nil)
        }
    }

    @Test("A caller's header takes the place of curl's own, and an empty one is sent empty")
    func ownHeaders() async throws {
        try await CurlFixture.run(
            configure: { $0.userAgent = "test/1" },
            during: { client, server in
                let headers = [("accept", "application/json"), ("Content-Type", "text/plain"), ("X-Empty", "")]
                _ = try await client.perform(.patient(.post, server.url, headers: headers, body: []))
                let request = try #require(server.requests.first)
                #expect(request.header("accept") == "application/json")
                #expect(request.header("content-type") == "text/plain")
                #expect(request.header("x-empty") == "")
                #expect(request.header("user-agent") == "test/1")
                #expect(request.header("content-length") == "0")
            })
    }

    @Test("HEAD brings the header alone")
    func head() async throws {
        try await CurlFixture.run { client, server in
            let response = try await client.perform(.patient(.head, server.url))
            #expect(response.status == 200)
            #expect(response.body.isEmpty)
            #expect(server.requests.first?.method == "HEAD")
        }
    }

    @Test(
        "A header that would break out of its line is refused before anything is sent",
        arguments: [
            ("X-A", "1\r\nX-B: 2"), ("X-A", "1\n2"), ("X-A", "1\u{0}2"), ("X-A:", "1"), ("", "1"), ("X A", "1"),
            ("X-A\r\nX-B", "1"),
            ("X-É", "1"),
        ])
    func malformedHeaders(_ name: String, _ value: String) async throws {
        try await CurlFixture.run { client, server in
            let error = await CurlFixture.failure(
                of: .patient(.get, server.url, headers: [(name, value)]), by: client)
            #expect(error?.kind == .invalidRequest)
            #expect(error?.requestMayHaveBeenSent == false)
            #expect(server.requests.isEmpty)
            // The client is none the worse for it.
            let next = try await client.perform(.patient(.get, server.url))
            #expect(next.status == 200)
        }
    }

    @Test(
        "Only https URLs without credentials are taken",
        arguments: [
            "http://localhost/", "ftp://localhost/", "file:///etc/passwd", "localhost", "", "https://",
            "https://localhost:99999/",
            "https://local\u{0}host/",
        ])
    func otherURLs(_ url: String) async throws {
        try await CurlFixture.run(CurlConfiguration()) { client in
            let error = await CurlFixture.failure(of: .patient(.get, url), by: client)
            #expect(error?.kind == .invalidRequest)
            #expect(error?.requestMayHaveBeenSent == false)
        }
    }

    @Test("Credentials in a URL are refused and appear in no error")
    func credentialsInURL() async throws {
        try await CurlFixture.run(CurlConfiguration()) { client in
            let request = CurlRequest.patient(.get, "https://alice:wonderland@localhost/?token=rabbit")
            let error = try #require(await CurlFixture.failure(of: request, by: client))
            #expect(!error.requestMayHaveBeenSent)
            for secret in ["alice", "wonderland", "rabbit"] { #expect(!"\(error)".contains(secret)) }
        }
    }
}
