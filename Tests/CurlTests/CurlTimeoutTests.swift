import Curl
import TestSupport
import Testing

/// Timeouts against servers that never answer; no test looks at a clock.
struct CurlTimeoutTests {
    private static let never: LoopbackServer.Handler = { _ in
        try await Task.sleep(for: .seconds(3_600))
        return .init()
    }

    @Test("A response that never comes ends with the total timeout", arguments: [LoopbackServer.Options(), .http1])
    func totalTimeout(_ options: LoopbackServer.Options) async throws {
        try await CurlFixture.run(
            options,
            handler: { request in
                if request.path == "/never" { return try await Self.never(request) }
                return .init("hello")
            },
            during: { client, server in
                // With the connection ready, the request surely goes out within its time.
                _ = try await client.perform(CurlRequest(.get, server.url))
                let never = CurlRequest(.put, server.url + "/never", body: [1], totalTimeout: .milliseconds(500))
                let error = try #require(await CurlFixture.failure(of: never, by: client))
                #expect(error.kind == .timeout)
                #expect(error.requestMayHaveBeenSent)
                #expect(error.detail == "not complete after 500 ms")
                let next = try await client.perform(CurlRequest(.get, server.url))
                #expect(next.status == 200)
            })
    }

    @Test("A server that takes the connection but not the handshake ends with the connect timeout")
    func connectTimeout() async throws {
        let socket = try LoopbackSocket(isListening: true)
        try await CurlFixture.run(CurlConfiguration()) { client in
            let request = CurlRequest(
                .put, "https://127.0.0.1:\(socket.port)", body: [1], connectTimeout: .milliseconds(50),
                totalTimeout: .seconds(600))
            let error = try #require(await CurlFixture.failure(of: request, by: client))
            #expect(error.kind == .timeout)
            #expect(!error.requestMayHaveBeenSent)
        }
    }

    @Test("The total timeout also ends transfers that wait for somebody else's connection")
    func waitingForConnection() async throws {
        let socket = try LoopbackSocket(isListening: true)
        try await CurlFixture.run(CurlConfiguration()) { client in
            let url = "https://127.0.0.1:\(socket.port)"
            await withTaskGroup(of: CurlError?.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        await CurlFixture.failure(
                            of: CurlRequest(.get, url, connectTimeout: .seconds(600), totalTimeout: .milliseconds(100)),
                            by: client)
                    }
                }
                for await error in group {
                    #expect(error?.kind == .timeout)
                    #expect(error?.requestMayHaveBeenSent == false)
                }
            }
        }
    }

    @Test("The total timeout also ends transfers that wait for their turn")
    func waitingForTurn() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        try await CurlFixture.run(
            configure: { $0.maximumConcurrentTransfers = 1 },
            handler: { request in
                start.yield()
                return try await Self.never(request)
            },
            during: { client, server in
                let first = Task {
                    await CurlFixture.failure(
                        of: CurlRequest(.get, server.url, totalTimeout: .seconds(600)), by: client)
                }
                _ = await started.first { true }
                let second = await CurlFixture.failure(
                    of: CurlRequest(.get, server.url, totalTimeout: .milliseconds(10)), by: client)
                #expect(second?.kind == .timeout)
                #expect(second?.requestMayHaveBeenSent == false)
                first.cancel()
                #expect(await first.value?.kind == .cancelled)
            })
    }
}
