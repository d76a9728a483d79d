import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import Logging
import ServiceLifecycle
import TestSupport
import Testing

struct TransportTests {
    @Test func `clients get HTTP/2 over TLS`() async throws {
        try await SimulatorFixture.with { fixture in
            for environment in SimulatedEnvironment.allCases {
                let response = try await fixture.call(.getTransactionInfo(transactionId: "1"), in: environment)
                #expect(response.httpVersion == .http2)
            }
        }
    }

    @Test func `a client that does not trust the authority gets nothing`() async throws {
        try await SimulatorFixture.with { fixture in
            let stranger = try CurlClient()
            let error = await #expect(throws: CurlError.self) {
                try await stranger.perform(
                    CurlRequest(
                        .get, fixture.simulator.baseURL(.sandbox), connectTimeout: Wait.limit, totalTimeout: Wait.limit)
                )
            }
            #expect(error?.kind == .tls)
        }
    }

    @Test(arguments: [
        "/", "/inApps/v1/transactions", "/inApps/v1/transactions/", "/inapps/v1/transactions/1",
        "/inApps/v2/transactions/1",
        "/inApps/v1/history", "/inApps/v2/history/1/2", "/inApps/v2/refund/lookup/1/", "/inApps/v3/history/1",
    ])
    func `a path that is not Apple's gets 404 without one of Apple's errors`(path: String) async throws {
        try await SimulatorFixture.with { fixture in
            let headers = [(name: "Authorization", value: "Bearer \(try fixture.token())")]
            let response = try await fixture.send(
                "GET", fixture.simulator.baseURL(.sandbox) + path, headers: headers)
            #expect(response.status == 404)
            #expect(response.body.isEmpty)
        }
    }

    @Test(arguments: [
        ("POST", "/inApps/v1/transactions/1", "GET"), ("DELETE", "/inApps/v2/history/1", "GET"),
        ("PUT", "/inApps/v2/refund/lookup/1", "GET"), ("GET", "/inApps/v2/transactions/consumption/1", "PUT"),
        ("POST", "/inApps/v1/transactions/consumption/1", "PUT"),
    ])
    func `another method gets 405`(method: String, path: String, allowed: String) async throws {
        try await SimulatorFixture.with { fixture in
            let response = try await fixture.send(
                method, fixture.simulator.baseURL(.sandbox) + path, headers: [], body: method == "GET" ? nil : [])
            #expect(response.status == 405)
            #expect(response.headers["Allow"] == allowed)
        }
    }

    @Test func `answers carry the date of the simulated clock`() async throws {
        try await SimulatorFixture.with { fixture in
            let response = try await fixture.call(.getTransactionInfo(transactionId: "1"))
            #expect(response.headers["Date"] == "Fri, 15 Jan 2027 08:00:00 GMT")
        }
    }

    @Test func `a control port that others could reach is refused`() async throws {
        let open = ListenAddress(host: "0.0.0.0", port: 0)
        await #expect(throws: ControlError.self) {
            try await Simulator.start(SimulatorConfiguration(control: open))
        }
    }

    @Test func `a port that is taken is an error, and nothing is left listening`() async throws {
        try await SimulatorFixture.with { fixture in
            let url = fixture.simulator.controlURL
            let port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
            await #expect(throws: (any Error).self) {
                try await Simulator.start(
                    SimulatorConfiguration(control: ListenAddress(host: "127.0.0.1", port: port)))
            }
        }
    }

    @Test func `requests whose clients are killed while they send have not come in, and whole ones have`() async throws
    {
        let directory = FileManager.default.temporaryDirectory.appending(path: "simulator-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let simulator = try await Simulator.start(SimulatorConfiguration(stateDirectory: directory.path))
        let url = "\(simulator.baseURL(.sandbox))/inApps/v2/transactions/consumption/1"
        // What the ends of connections come to is the kernel's and the scheduler's whim: one alone proves nothing.
        for number in 1...16 {
            let told = directory.appending(path: "told\(number)")
            #expect(FileManager.default.createFile(atPath: told.path, contents: nil))
            let (client, input) = (Process(), Pipe())
            client.executableURL = URL(filePath: "/usr/bin/curl")
            client.arguments = [
                "--silent", "--verbose", "--http2", "--cacert", directory.path + "/tls-ca.pem", "--request", "PUT",
                "--header", number.isMultiple(of: 2) ? "Content-Length: 100" : "Content-Type: application/json",
                "--header", "Expect:", "--upload-file", "-", url,
            ]
            client.standardInput = input
            // What curl says to its standard error waits in no buffer.
            client.standardError = try FileHandle(forWritingTo: told)
            try client.run()
            // The head is on its way, and the body never comes.
            try await Wait.until("the client to send") {
                (try? String(contentsOf: told, encoding: .utf8))?.contains("> PUT") == true
            }
            kill(client.processIdentifier, SIGKILL)
        }
        let client = try HTTP1Client(
            url: simulator.baseURL(.sandbox), trusting: simulator.tlsAuthority, applicationProtocols: [])
        #expect(
            try await client.send("PUT", "/inApps/v2/transactions/consumption/1", body: Array("{}".utf8)).status == 401)
        await simulator.stop()
        #expect(simulator.state.received.requests.map(\.bodyCount) == [2])
    }

    @Test func `nobody answers after the stop`() async throws {
        let simulator = try await Simulator.start(SimulatorConfiguration())
        let client = try HTTP1Client(url: simulator.controlURL)
        #expect(try await client.send("GET", "/health").status == 200)
        await simulator.stop()
        await #expect(throws: (any Error).self) { try await client.send("GET", "/health") }
    }

    @Test func `clients without HTTP/2 get HTTP/1.1 over TLS`() async throws {
        try await SimulatorFixture.with { fixture in
            for protocols in [["http/1.1"], []] {
                let client = try HTTP1Client(
                    url: fixture.simulator.baseURL(.sandbox), trusting: fixture.simulator.tlsAuthority,
                    applicationProtocols: protocols)
                let token = try fixture.token()
                let response = try await client.send(
                    "GET", "/inApps/v1/transactions/1", headers: ["Authorization: Bearer \(token)"])
                #expect(response.status == 404)
                #expect(try ErrorPayload(parsing: response.body).errorCode == 4_040_010)
            }
        }
    }

    @Test func `a service group runs it and shuts it down`() async throws {
        let simulator = try await Simulator.start(SimulatorConfiguration())
        let client = try HTTP1Client(url: simulator.controlURL)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [simulator], logger: logger))
        async let run: Void = group.run()
        #expect(try await client.send("GET", "/health").status == 200)
        await group.triggerGracefulShutdown()
        try await run
        await #expect(throws: (any Error).self) { try await client.send("GET", "/health") }
    }
}
