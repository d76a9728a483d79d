import Curl
import Glibc
import TestSupport
import Testing

/// How requests share connections, and what a connection must be to carry one.
struct CurlConnectionTests {
    /// More than the hundred streams that the server allows at a time, but few enough for it to put up with the resets
    /// by which libcurl 7.88 ends some streams.
    @Test("Concurrent requests share one HTTP/2 connection")
    func multiplexing() async throws {
        try await CurlFixture.run(
            handler: { .init(body: $0.body) },
            during: { client, server in
                try await Self.performMany(180, client, server, expecting: .http2)
                #expect(server.requests.count == 180)
                #expect(server.connectionCount == 1)
            })
    }

    @Test("Requests on one HTTP/2 connection are under way at the same time")
    func concurrency() async throws {
        let gate = Gate()
        gate.close()
        try await CurlFixture.run(
            handler: { request in
                await gate.pass()
                return .init(body: request.body)
            },
            during: { client, server in
                async let all: Void = Self.performMany(20, client, server, expecting: .http2)
                await gate.hasArrivals(20)
                gate.open()
                try await all
                #expect(server.connectionCount == 1)
            })
    }

    @Test("A thousand concurrent requests to a server without HTTP/2 take the connections allowed", arguments: [1, 3])
    func http1(_ connections: Int) async throws {
        try await CurlFixture.run(
            .http1, configure: { $0.maximumConnectionsPerHost = connections }, handler: { .init(body: $0.body) },
            during: { client, server in
                try await Self.performMany(1_000, client, server, expecting: .http1)
                #expect(server.requests.count == 1_000)
                #expect((1...connections).contains(server.connectionCount))
            })
    }

    @Test("Transfers beyond the number allowed wait their turn")
    func transferLimit() async throws {
        try await CurlFixture.run(
            configure: { $0.maximumConcurrentTransfers = 2 }, handler: { .init(body: $0.body) },
            during: { client, server in
                try await Self.performMany(100, client, server, expecting: .http2)
                #expect(server.requests.count == 100)
            })
    }

    private static func performMany(
        _ count: Int, _ client: CurlClient, _ server: LoopbackServer, expecting version: CurlResponse.HTTPVersion
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    let body = Array("number \(number)".utf8)
                    let response = try await client.perform(.patient(.post, server.url, body: body))
                    #expect(response.httpVersion == version)
                    #expect(response.body == body)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A connection gives up a peer that has vanished")
    func socketOptions() async throws {
        try await CurlFixture.run(
            configure: { $0.unacknowledgedDataTimeout = .milliseconds(12_345) },
            during: { client, server in
                _ = try await client.perform(.patient(.get, server.url))
                let sockets = LoopbackSocket.descriptors(connectedTo: server.port)
                #expect(sockets.count == 1)
                for socket in sockets {
                    #expect(LoopbackSocket.option(TCP_USER_TIMEOUT, CInt(IPPROTO_TCP), of: socket) == 12_345)
                    #expect(LoopbackSocket.option(SO_KEEPALIVE, SOL_SOCKET, of: socket) == 1)
                    #expect(LoopbackSocket.option(TCP_NODELAY, CInt(IPPROTO_TCP), of: socket) == 1)
                }
            })
    }

    // MARK: Failures

    @Test("A server of an unknown authority is refused before the request")
    func unknownAuthority() async throws {
        try await CurlFixture.run(
            configure: { $0.certificateAuthorityFile = nil },
            during: { client, server in
                try await Self.expectTLSFailure(client, server, server.url)
            })
    }

    @Test("A server whose certificate has expired is refused before the request")
    func expiredCertificate() async throws {
        var options = LoopbackServer.Options()
        options.certificateLifetime = -3_600
        try await CurlFixture.run(options) { client, server in
            try await Self.expectTLSFailure(client, server, server.url)
        }
    }

    @Test("A server of another name is refused before the request")
    func otherHostName() async throws {
        var options = LoopbackServer.Options()
        options.hostName = "elsewhere.example"
        try await CurlFixture.run(options) { client, server in
            try await Self.expectTLSFailure(client, server, server.url)
        }
        try await CurlFixture.run { client, server in
            try await Self.expectTLSFailure(client, server, "https://127.0.0.1:\(server.port)")
        }
    }

    @Test("A server that speaks only an obsolete TLS is refused before the request")
    func obsoleteTLS() async throws {
        var options = LoopbackServer.Options()
        options.offersOnlyObsoleteTLS = true
        try await CurlFixture.run(options) { client, server in
            try await Self.expectTLSFailure(client, server, server.url)
        }
    }

    @Test("A file of authorities that is not there fails the request")
    func missingAuthorityFile() async throws {
        try await CurlFixture.run(
            configure: { $0.certificateAuthorityFile = "/nonexistent/ca.pem" },
            during: { client, server in
                try await Self.expectTLSFailure(client, server, server.url)
            })
    }

    private static func expectTLSFailure(_ client: CurlClient, _ server: LoopbackServer, _ url: String) async throws {
        let error = try #require(await CurlFixture.failure(of: .patient(.put, url, body: [1]), by: client))
        #expect(error.kind == .tls, "\(error)")
        #expect(!error.requestMayHaveBeenSent)
        #expect(server.requests.isEmpty)
    }

    @Test("A port that refuses connections is told by number and text")
    func refusedConnection() async throws {
        let socket = try LoopbackSocket(isListening: false)
        try await CurlFixture.run(CurlConfiguration()) { client in
            let request = CurlRequest.patient(.put, "https://127.0.0.1:\(socket.port)/secret?token=rabbit", body: [1])
            let error = try #require(await CurlFixture.failure(of: request, by: client))
            #expect(error.kind == .connectFailed)
            #expect(error.code == 7)
            #expect(error.operation == "transfer")
            #expect(!error.text.isEmpty)
            #expect(!error.detail.isEmpty)
            #expect(!error.requestMayHaveBeenSent)
            #expect("\(error)".contains("(7)"))
            #expect(!"\(error)".contains("rabbit"))
        }
    }

    /// The name is longer than DNS allows, so no resolver is asked.
    @Test("A name without an address is told as such")
    func unknownName() async throws {
        try await CurlFixture.run(CurlConfiguration()) { client in
            let name = String(repeating: "a", count: 70) + ".invalid"
            let error = await CurlFixture.failure(of: .patient(.get, "https://\(name)/"), by: client)
            #expect(error?.kind == .nameResolution)
            #expect(error?.requestMayHaveBeenSent == false)
        }
    }
}
