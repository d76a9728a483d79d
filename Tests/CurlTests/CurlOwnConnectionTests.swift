import Curl
import Synchronization
import TestSupport
import Testing

/// Requests that must not be sent twice.
struct CurlOwnConnectionTests {
    private func request(_ server: LoopbackServer, _ path: String, own: Bool) -> CurlRequest {
        var request = CurlRequest.patient(.post, server.url + path, body: [])
        request.needsOwnConnection = own
        return request
    }

    @Test("A request that needs a connection of its own shares none, before or after", arguments: [true, false])
    func isAlone(offersHTTP2: Bool) async throws {
        var options = LoopbackServer.Options()
        options.offersHTTP2 = offersHTTP2
        try await CurlFixture.run(options) { client, server in
            for own in [false, true, true, false] {
                _ = try await client.perform(request(server, "/", own: own))
            }
            let connections = server.requests.map(\.connection)
            #expect(Set(connections).count == 3)
            #expect(connections.first == connections.last)
        }
    }

    @Test("It does not wait for a connection that others keep busy")
    func doesNotWait() async throws {
        let gate = Gate()
        gate.close()
        try await CurlFixture.run(
            .http1,
            handler: { request in
                if request.path == "/busy" { await gate.pass() }
                return .init("done")
            },
            during: { client, server in
                async let busy = client.perform(request(server, "/busy", own: false))
                await gate.hasArrivals(1)
                _ = try await client.perform(request(server, "/alone", own: true))
                gate.open()
                _ = try await busy
                #expect(server.connectionCount == 2)
            })
    }

    /// The server answers the first request of each connection and ends the connection at the second, as if its process
    /// had died meanwhile.
    @Test("curl repeats a request on a dead connection by itself, but not one that has its own")
    func isNotRepeated() async throws {
        struct Died: Error {}
        let known = Mutex<Set<Int>>([])
        try await CurlFixture.run(
            .http1,
            handler: { request in
                guard request.path != "/own", known.withLock({ $0.insert(request.connection).inserted }) else {
                    throw Died()
                }
                return .init("done")
            },
            during: { client, server in
                let first = try await client.perform(request(server, "/kept", own: false))
                let second = try await client.perform(request(server, "/kept", own: false))
                #expect(!first.wasSentBefore && second.wasSentBefore)
                #expect(server.requests.count { $0.path == "/kept" } == 3)
                let error = await CurlFixture.failure(of: request(server, "/own", own: true), by: client)
                #expect(error?.requestMayHaveBeenSent == true)
                #expect(server.requests.count { $0.path == "/own" } == 1)
            })
    }
}
