import Curl
import Glibc
import TestSupport
import Testing

struct CurlProxyTests {
    @Test("Requests go through the configured proxy, whatever the host")
    func configuredProxy() async throws {
        try await LoopbackProxy.run { proxy in
            try await CurlFixture.run(
                configure: { $0.proxy = "http://127.0.0.1:\(proxy.port)" },
                handler: { _ in .init(headers: [("Content-Type", "text/plain")], "hello") },
                during: { client, server in
                    let response = try await client.perform(.patient(.get, server.url))
                    #expect(response.status == 200)
                    #expect(response.httpVersion == .http2)
                    #expect(response.headers["content-type"] == "text/plain")
                    #expect(response.headers["via"] == nil)
                    #expect(proxy.requestLines == ["CONNECT localhost:\(server.port) HTTP/1.1"])
                })
        }
    }

    @Test("A proxy that refuses is a failure to connect: the request has not been sent")
    func refusingProxy() async throws {
        try await LoopbackProxy.run(status: "403 Forbidden") { proxy in
            try await CurlFixture.run(
                configure: { $0.proxy = "http://127.0.0.1:\(proxy.port)" },
                during: { client, server in
                    let error = try #require(
                        await CurlFixture.failure(of: .patient(.put, server.url, body: [1]), by: client))
                    #expect(error.kind == .connectFailed, "\(error)")
                    #expect(!error.requestMayHaveBeenSent)
                    #expect(server.requests.isEmpty)
                })
        }
    }

    /// In a process of its own, because the environment belongs to all tests.
    @Test("The environment names no proxy and makes no exception from one")
    func environment() async {
        await #expect(processExitsWith: .success) {
            let refusing = try LoopbackSocket(isListening: false)
            for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                setenv(name, "http://127.0.0.1:\(refusing.port)", 1)
            }
            setenv("no_proxy", "", 1)
            try await CurlFixture.run { client, server in
                let next = try await client.perform(.patient(.get, server.url))
                #expect(next.status == 200)
            }
            setenv("no_proxy", "*", 1)
            setenv("NO_PROXY", "*", 1)
            try await LoopbackProxy.run { proxy in
                try await CurlFixture.run(
                    configure: { $0.proxy = "http://127.0.0.1:\(proxy.port)" },
                    during: {
                        client, server in
                        let next = try await client.perform(.patient(.get, server.url))
                        #expect(next.status == 200)
                        #expect(proxy.requestLines.count == 1)
                    })
            }
        }
    }
}
