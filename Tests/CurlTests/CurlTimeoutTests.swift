import Curl
import Synchronization
import TestSupport
import Testing

/// Timeouts against servers that never answer; only what is about a moment looks at a clock.
struct CurlTimeoutTests {
    @Test("A response that never comes ends with the total timeout", arguments: [LoopbackServer.Options(), .http1])
    func totalTimeout(_ options: LoopbackServer.Options) async throws {
        let silence = LoopbackServer.Silence()
        try await CurlFixture.run(
            options,
            handler: { request in
                if request.path.hasPrefix("/never") { return try await silence.answer(request) }
                return .init("hello")
            },
            during: { client, server in
                _ = try await client.perform(.patient(.get, server.url))
                // On a busy machine the time may be over before the request goes out: then it gets twice as much.
                var milliseconds = 500
                try await Wait.until("a request that arrives before its time is over") {
                    let never = CurlRequest(
                        .put, server.url + "/never/\(milliseconds)", body: [1], connectTimeout: Wait.limit,
                        totalTimeout: .milliseconds(milliseconds))
                    let error = try #require(await CurlFixture.failure(of: never, by: client))
                    #expect(error.kind == .timeout)
                    #expect(error.detail == "not complete after \(milliseconds) ms")
                    let hasArrived = server.requests.contains { $0.path == "/never/\(milliseconds)" }
                    if hasArrived { #expect(error.requestMayHaveBeenSent) }
                    milliseconds *= 2
                    return hasArrived
                }
                let next = try await client.perform(.patient(.get, server.url))
                #expect(next.status == 200)
            })
    }

    @Test("A server that takes the connection but not the handshake ends with the connect timeout")
    func connectTimeout() async throws {
        let socket = try LoopbackSocket(isListening: true)
        try await CurlFixture.run(CurlConfiguration()) { client in
            let request = CurlRequest(
                .put, "https://127.0.0.1:\(socket.port)", body: [1], connectTimeout: .milliseconds(50),
                totalTimeout: Wait.limit)
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
                            of: CurlRequest(.get, url, connectTimeout: Wait.limit, totalTimeout: .milliseconds(100)),
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
        let silence = LoopbackServer.Silence()
        try await CurlFixture.run(
            configure: { $0.maximumConcurrentTransfers = 1 },
            handler: silence.answer,
            during: { client, server in
                let request = CurlRequest.patient(.get, server.url)
                let first = Task { await CurlFixture.failure(of: request, by: client) }
                await silence.begun.hasArrivals(1)
                let second = await CurlFixture.failure(
                    of: CurlRequest(.get, server.url, totalTimeout: .milliseconds(10)), by: client)
                #expect(second?.kind == .timeout)
                #expect(second?.requestMayHaveBeenSent == false)
                first.cancel()
                #expect(await first.value?.kind == .cancelled)
            })
    }

    @Test("A request that finds its connection too late does not go out, however much time there is for its answer")
    func latestStart() async throws {
        try await CurlFixture.run { client, server in
            var request = CurlRequest.patient(.post, server.url, body: [1])
            request.latestStart = ContinuousClock.now
            let error = try #require(await CurlFixture.failure(of: request, by: client))
            #expect(error.kind == .tooLate && !error.requestMayHaveBeenSent)
            #expect(server.requests.isEmpty)
            request.latestStart = ContinuousClock.now + Wait.limit
            #expect(try await client.perform(request).status == 200)
        }
    }

    @Test("A request that has gone out before is answered after that")
    func answerBehindLatestStart() async throws {
        let latest = Mutex(ContinuousClock.now)
        try await CurlFixture.run(
            handler: { _ in
                let latest = latest.withLock { $0 }
                try await Wait.until("the moment to be over") { ContinuousClock.now > latest }
                return .init("late")
            },
            during: { client, server in
                var request = CurlRequest.patient(.post, server.url, body: [1])
                // A busy machine needs more time for it to go out.
                for milliseconds in [100, 1000, 10_000] {
                    let moment = ContinuousClock.now + .milliseconds(milliseconds)
                    latest.withLock { $0 = moment }
                    request.latestStart = moment
                    do throws(CurlError) {
                        #expect(try await client.perform(request).status == 200)
                        #expect(ContinuousClock.now > moment)
                        return
                    } catch {
                        guard error.kind == .tooLate else { throw error }
                    }
                }
                Issue.record("no request has gone out in time")
            })
    }
}
