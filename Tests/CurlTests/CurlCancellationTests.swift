import Curl
import TestSupport
import Testing

struct CurlCancellationTests {
    @Test("Cancelling a task ends its transfer, and the server sees the stream end")
    func cancellation() async throws {
        let silence = LoopbackServer.Silence()
        try await CurlFixture.run(
            handler: silence.answer,
            during: { client, server in
                let request = CurlRequest.patient(.put, server.url, body: [1])
                let task = Task { await CurlFixture.failure(of: request, by: client) }
                await silence.begun.hasArrivals(1)
                task.cancel()
                let error = await task.value
                #expect(error?.kind == .cancelled)
                #expect(error?.requestMayHaveBeenSent == true)
                // The client is still there, so what ended the handler is the reset of the stream.
                await silence.ended.hasArrivals(1)
                #expect(await client.heartbeat())
            })
    }

    @Test("Cancelling one request leaves the connection to the others")
    func othersGoOn() async throws {
        let silence = LoopbackServer.Silence()
        let gate = Gate()
        gate.close()
        try await CurlFixture.run(
            handler: { request in
                if request.path == "/never" { return try await silence.answer(request) }
                await gate.pass()
                return .init("hello")
            },
            during: { client, server in
                let never = CurlRequest.patient(.get, server.url + "/never")
                let cancelled = Task { await CurlFixture.failure(of: never, by: client) }
                async let other = client.perform(.patient(.get, server.url))
                await silence.begun.hasArrivals(1)
                await gate.hasArrivals(1)
                cancelled.cancel()
                #expect(await cancelled.value?.kind == .cancelled)
                gate.open()
                #expect(try await other.body == Array("hello".utf8))
                let next = try await client.perform(.patient(.get, server.url))
                #expect(next.connectionWasReused)
                #expect(server.connectionCount == 1)
            })
    }

    @Test("A task that is cancelled already sends nothing")
    func cancelledBefore() async throws {
        try await CurlFixture.run { client, server in
            let error = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await CurlFixture.failure(of: .patient(.put, server.url, body: [1]), by: client)
            }.value
            #expect(error?.kind == .cancelled)
            #expect(error?.requestMayHaveBeenSent == false)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("A request that waits for its turn is cancelled without having been sent")
    func cancelledWhileWaiting() async throws {
        let silence = LoopbackServer.Silence()
        try await CurlFixture.run(
            configure: { $0.maximumConcurrentTransfers = 1 },
            handler: silence.answer,
            during: { client, server in
                let request = CurlRequest.patient(.put, server.url, body: [1])
                let first = Task { await CurlFixture.failure(of: request, by: client) }
                await silence.begun.hasArrivals(1)
                let second = Task { await CurlFixture.failure(of: request, by: client) }
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
                        let task = Task { await CurlFixture.failure(of: .patient(.get, server.url), by: client) }
                        for _ in 0..<(number % 30) { await Task.yield() }
                        task.cancel()
                        let error = await task.value
                        #expect(error == nil || error?.kind == .cancelled, "\(String(describing: error))")
                    }
                }
            }
            let next = try await client.perform(.patient(.get, server.url))
            #expect(next.status == 200)
        }
    }

    @Test("Each request ends once, whatever is sent, cancelled and asked in between", arguments: [1, 2] as [UInt64])
    func anyOrder(_ seed: UInt64) async throws {
        /// What becomes of a request: cancelled after so many heartbeats, or answered.
        struct Plan {
            let isAnswered: Bool
            let heartbeats: Int
            let isCancelled: Bool
        }
        var random = SeededRandom(seed: seed)
        let plans = (0..<300).map { _ in
            let isAnswered = Int.random(in: 0..<4, using: &random) > 0
            return Plan(
                isAnswered: isAnswered, heartbeats: Int.random(in: 0..<8, using: &random),
                isCancelled: !isAnswered || Bool.random(using: &random))
        }
        let silence = LoopbackServer.Silence()
        try await CurlFixture.run(
            configure: { $0.maximumConcurrentTransfers = 9 },
            handler: { $0.path == "/never" ? try await silence.answer($0) : .init("hello") },
            during: { client, server in
                let url = server.url
                let outcomes = await withTaskGroup(of: (Plan, CurlError?).self) { group in
                    for plan in plans {
                        group.addTask {
                            let request = CurlRequest.patient(.get, url + (plan.isAnswered ? "/" : "/never"))
                            let task = Task { await CurlFixture.failure(of: request, by: client) }
                            for _ in 0..<plan.heartbeats { #expect(await client.heartbeat()) }
                            if plan.isCancelled { task.cancel() }
                            return (plan, await task.value)
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.count == plans.count)
                for (plan, error) in outcomes {
                    if !plan.isAnswered { #expect(error?.kind == .cancelled) }
                    if !plan.isCancelled { #expect(error == nil, "\(String(describing: error))") }
                    #expect(error == nil || error?.kind == .cancelled, "\(String(describing: error))")
                }
            })
    }
}
