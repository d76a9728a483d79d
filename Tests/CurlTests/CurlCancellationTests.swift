import Curl
import TestSupport
import Testing

struct CurlCancellationTests {
    @Test("Cancelling a task ends its transfer, and the server sees the stream end")
    func cancellation() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        try await CurlFixture.run(
            handler: { _ in
                start.yield()
                defer { end.yield() }
                try await Task.sleep(for: .seconds(3_600))
                return .init()
            },
            during: { client, server in
                let request = CurlRequest(.put, server.url, body: [1], totalTimeout: .seconds(600))
                let task = Task { await CurlFixture.failure(of: request, by: client) }
                _ = await started.first { true }
                task.cancel()
                let error = await task.value
                #expect(error?.kind == .cancelled)
                #expect(error?.requestMayHaveBeenSent == true)
                // The client is still there, so what ended the handler is the reset of the stream.
                #expect(await ended.first { true } != nil)
                #expect(await client.heartbeat())
            })
    }

    @Test("Cancelling one request leaves the connection to the others")
    func othersGoOn() async throws {
        let meeting = Meeting(of: 3)
        let gate = Meeting(of: 2)
        try await CurlFixture.run(
            handler: { request in
                await meeting.join()
                if request.path == "/never" { try await Task.sleep(for: .seconds(3_600)) }
                await gate.join()
                return .init("hello")
            },
            during: { client, server in
                let cancelled = Task {
                    let request = CurlRequest(.get, server.url + "/never", totalTimeout: .seconds(600))
                    return await CurlFixture.failure(of: request, by: client)
                }
                async let other = client.perform(CurlRequest(.get, server.url, totalTimeout: .seconds(600)))
                // Both requests have arrived when this comes back, and neither has its response.
                await meeting.join()
                cancelled.cancel()
                #expect(await cancelled.value?.kind == .cancelled)
                await gate.join()
                #expect(try await other.body == Array("hello".utf8))
                let next = try await client.perform(CurlRequest(.get, server.url))
                #expect(next.connectionWasReused)
                #expect(server.connectionCount == 1)
            })
    }

    @Test("A task that is cancelled already sends nothing")
    func cancelledBefore() async throws {
        try await CurlFixture.run { client, server in
            let error = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await CurlFixture.failure(of: CurlRequest(.put, server.url, body: [1]), by: client)
            }.value
            #expect(error?.kind == .cancelled)
            #expect(error?.requestMayHaveBeenSent == false)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("A request that waits for its turn is cancelled without having been sent")
    func cancelledWhileWaiting() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        try await CurlFixture.run(
            configure: { $0.maximumConcurrentTransfers = 1 },
            handler: { _ in
                start.yield()
                try await Task.sleep(for: .seconds(3_600))
                return .init()
            },
            during: { client, server in
                let first = Task {
                    await CurlFixture.failure(
                        of: CurlRequest(.get, server.url, totalTimeout: .seconds(600)), by: client)
                }
                _ = await started.first { true }
                let second = Task {
                    await CurlFixture.failure(
                        of: CurlRequest(.put, server.url, body: [1], totalTimeout: .seconds(600)), by: client)
                }
                // Whether it has been submitted by now or not, it has not been sent.
                #expect(await client.heartbeat())
                second.cancel()
                let error = await second.value
                #expect(error?.kind == .cancelled)
                #expect(error?.requestMayHaveBeenSent == false)
                first.cancel()
                #expect(await first.value?.kind == .cancelled)
                #expect(server.requests.count == 1)
            })
    }

    @Test("Cancelling at any moment ends every request exactly once")
    func race() async throws {
        try await CurlFixture.run { client, server in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<150 {
                    group.addTask {
                        let task = Task { await CurlFixture.failure(of: CurlRequest(.get, server.url), by: client) }
                        for _ in 0..<(number % 30) { await Task.yield() }
                        task.cancel()
                        let error = await task.value
                        #expect(error == nil || error?.kind == .cancelled, "\(String(describing: error))")
                    }
                }
            }
            let next = try await client.perform(CurlRequest(.get, server.url))
            #expect(next.status == 200)
        }
    }
}
