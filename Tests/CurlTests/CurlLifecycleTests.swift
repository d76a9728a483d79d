import Curl
import TestSupport
import Testing

struct CurlLifecycleTests {
    @Test("Shutting down ends the transfers under way and those that wait")
    func shutdownWithTransfers() async throws {
        let silence = LoopbackServer.Silence()
        try await CurlFixture.run(
            configure: { $0.maximumConcurrentTransfers = 1 },
            handler: silence.answer,
            during: { client, server in
                let request = CurlRequest.patient(.put, server.url, body: [1])
                async let first = CurlFixture.failure(of: request, by: client)
                await silence.begun.hasArrivals(1)
                async let second = CurlFixture.failure(of: request, by: client)
                #expect(await client.heartbeat())
                await client.shutdown()
                let errors = await [first, second]
                #expect(errors.map { $0?.kind } == [.shutDown, .shutDown])
                #expect(errors.map { $0?.requestMayHaveBeenSent } == [true, false])
                #expect(server.requests.count == 1)
            })
    }

    @Test("After shutting down nothing is sent, and shutting down again does nothing")
    func afterShutdown() async throws {
        try await CurlFixture.run { client, server in
            _ = try await client.perform(.patient(.get, server.url))
            #expect(LoopbackSocket.descriptors(connectedTo: server.port).count == 1)
            await client.shutdown()
            #expect(LoopbackSocket.descriptors(connectedTo: server.port).isEmpty)
            await client.shutdown()
            let error = await CurlFixture.failure(of: .patient(.put, server.url, body: [1]), by: client)
            #expect(error?.kind == .shutDown)
            #expect(error?.requestMayHaveBeenSent == false)
            #expect(await client.heartbeat() == false)
            #expect(server.requests.count == 1)
        }
    }

    @Test("Shutting down from several tasks while requests come in leaves nobody waiting")
    func shutdownRace() async throws {
        try await CurlFixture.run { client, server in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        guard number % 50 != 25 else { return await client.shutdown() }
                        let error = await CurlFixture.failure(of: .patient(.get, server.url), by: client)
                        #expect(error == nil || error?.kind == .shutDown, "\(String(describing: error))")
                    }
                }
            }
            #expect(await client.heartbeat() == false)
        }
    }

    @Test("A heartbeat comes back while transfers are under way and while there are none")
    func heartbeat() async throws {
        try await CurlFixture.run(
            handler: LoopbackServer.Silence().answer,
            during: { client, server in
                #expect(await client.heartbeat())
                let request = CurlRequest.patient(.get, server.url)
                let task = Task { await CurlFixture.failure(of: request, by: client) }
                for _ in 0..<100 { #expect(await client.heartbeat()) }
                task.cancel()
                _ = await task.value
            })
    }

    @Test("A client that is released without shutting down closes its connections")
    func release() async throws {
        try await LoopbackServer.run(
            handler: { _ in .init("hello") },
            during: { server in
                do {
                    var configuration = CurlConfiguration()
                    configuration.certificateAuthorityFile = server.certificateAuthorityFile
                    let client = try CurlClient(configuration: configuration)
                    let response = try await client.perform(.patient(.get, server.url))
                    #expect(response.status == 200)
                }
                try await Wait.until("a client that nobody holds to close its connections") {
                    LoopbackSocket.descriptors(connectedTo: server.port).isEmpty
                }
            })
    }

    @Test("The library tells its version")
    func version() {
        #expect(CurlLibrary.version.hasPrefix("libcurl/"))
        #expect(CurlLibrary.version.contains("OpenSSL/"))
    }
}
