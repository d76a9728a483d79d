import AppStoreAPI
import AppStoreSimulator
import Daemon
import Domain
import Foundation
import JSON
import OpenSSL
import TestSupport
import Testing
import TraceContext

/// Callbacks over real TLS, from Apple's notification to the receiver.
struct CallbackTests {
    private static let callbacks = "\(DaemonFixture.app)/callbacks"

    /// A receiver that this machine's daemon may reach, unless the test wants it otherwise.
    private static func options(_ server: LoopbackServer, networks: [String] = ["127.0.0.0/8"]) throws
        -> DaemonFixture.Options
    {
        var policy = CallbackPolicy()
        policy.allowedHosts = ["localhost"]
        policy.allowedNetworks = try networks.map { try #require(IPNetwork($0)) }
        policy.timeout = Wait.limit
        var options = DaemonFixture.notified
        options.callbacks = CallbacksConfiguration(
            policy: policy, certificateAuthorityFile: server.certificateAuthorityFile)
        return options
    }

    private static func add(
        _ fixture: DaemonFixture, _ url: String, _ format: String
    ) async throws -> (id: String, secret: String?) {
        let reply = try await fixture.send("POST", callbacks, body: #"{"url":"\#(url)","format":"\#(format)"}"#)
        #expect(reply.status == 201)
        let made = try reply.json
        return (try #require(made["id"]?.string), made["secret"]?.string)
    }

    /// What came to a path, once it is so many.
    private static func requests(
        _ server: LoopbackServer, _ path: String, _ count: Int
    ) async throws -> [LoopbackServer.Request] {
        try await Wait.value("\(count) requests to \(path)") {
            let requests = server.requests.filter { $0.path == path }
            return requests.count >= count ? requests : nil
        }
    }

    /// Whether a request carries a signature under a secret, computed here from the standard's text.
    private static func isSigned(_ request: LoopbackServer.Request, with secret: String) throws -> Bool {
        let id = try #require(request.header("webhook-id"))
        let timestamp = try #require(request.header("webhook-timestamp"))
        let key = try #require(Data(base64Encoded: String(secret.dropFirst("whsec_".count))))
        let bytes = try SecureBytes(count: key.count) { $0.copyBytes(from: key) }
        let code = try HMACSHA256.authenticationCode(for: Array("\(id).\(timestamp).".utf8) + request.body, key: bytes)
        let signatures = try #require(request.header("webhook-signature")).split(separator: " ")
        return signatures.contains("v1,\(Data(code).base64EncodedString())")
    }

    @Test func `Apple's notification arrives byte for byte, and our events signed and in order`() async throws {
        try await LoopbackServer.run { _ in
            .init(status: 204)
        } during: { server in
            try await DaemonFixture.with(try Self.options(server)) { fixture in
                let gems = try await fixture.customer().transaction
                // What Apple says of the purchase itself comes before there is a callback.
                try await fixture.event("notification.received", about: gems)
                _ = try await Self.add(fixture, "\(server.url)/apple", "apple")
                let (id, secret) = try await Self.add(fixture, "\(server.url)/events", "cloudevents")
                let first = try #require(secret)
                _ = try await fixture.requestRefund(of: gems)
                let forwarded = try #require(try await Self.requests(server, "/apple", 1).first)
                let sent = try #require(fixture.simulator.state.notifications.last?.signedPayload)
                #expect(forwarded.body == Array(#"{"signedPayload":"\#(sent)"}"#.utf8))
                #expect(forwarded.header("content-type") == "application/json")
                let events = try await Self.requests(server, "/events", 2)
                let bodies = try events.map { try JSONValue(parsing: $0.body) }
                #expect(bodies.map { $0["type"]?.string } == ["purser.notification.received", "purser.case.opened"])
                for (event, body) in zip(events, bodies) {
                    #expect(event.method == "POST" && event.header("webhook-id") == body["id"]?.string)
                    #expect(event.header("traceparent").flatMap { TraceParent($0) } != nil)
                    #expect(event.header("content-type")?.hasPrefix("application/cloudevents+json") == true)
                    #expect(try Self.isSigned(event, with: first))
                }
                let listed = try await fixture.send("GET", "\(DaemonFixture.app)/events?after=0").json
                #expect(listed["events"]?.array?.contains(bodies[1]) == true)
                let rotated = try await fixture.send("POST", "\(Self.callbacks)/\(id):rotateSecret").json
                let second = try #require(rotated["secret"]?.string)
                let told = try await fixture.send("POST", "\(Self.callbacks)/\(id):test").json
                #expect(told["received"] == true, "\(told)")
                let test = try #require(try await Self.requests(server, "/events", 3).last)
                #expect(try Self.isSigned(test, with: first) && Self.isSigned(test, with: second))
                try await Self.verifyByLibrary(test, secrets: [first, second])
            }
        }
    }

    @Test func `a private address is refused unless its network is allowed`() async throws {
        try await LoopbackServer.run { _ in
            .init(status: 204)
        } during: { server in
            try await DaemonFixture.with(try Self.options(server, networks: ["10.0.0.0/8"])) { fixture in
                let (id, _) = try await Self.add(fixture, "\(server.url)/events", "cloudevents")
                let told = try await fixture.send("POST", "\(Self.callbacks)/\(id):test").json
                #expect(told["received"] == false && told["status"] == .null)
                #expect(told["failure"]?.string?.contains("not of the public Internet") == true)
                #expect(server.requests.isEmpty)
                let body = #"{"url":"https://elsewhere.test/","format":"apple"}"#
                #expect(try await fixture.send("POST", Self.callbacks, body: body).status == 400)
            }
        }
    }

    @Test func `a receiver's wish to be left alone is read, and a paused callback is a part that is not well`()
        async throws
    {
        let until = "Fri, 31 Dec 1999 23:59:59 GMT"
        try await LoopbackServer.run { _ in
            .init(status: 503, headers: [("Retry-After", until), ("Date", "Fri, 31 Dec 1999 23:57:59 GMT")])
        } during: { server in
            var options = try Self.options(server)
            options.hasDoors = true
            try await DaemonFixture.with(options) { fixture in
                let (id, _) = try await Self.add(fixture, "\(server.url)/events", "cloudevents")
                let told = try await fixture.send("POST", "\(Self.callbacks)/\(id):test").json
                #expect(told["failure"] == "the receiver answered 503, and asks to be left alone for 120 s", "\(told)")
                func part() async throws -> JSONValue? {
                    let report = try #require(
                        await LocalClient(socket: fixture.adminSocket).send("GET", "/healthz", body: nil)?.json)
                    return report["parts"]?.array?.first { $0["name"] == "callbacks" }
                }
                #expect(try await part()?["healthy"] == true)
                let paused = try await fixture.send(
                    "PATCH", "\(Self.callbacks)/\(id)", body: #"{"state":"paused"}"#)
                #expect(paused.status == 200)
                let unwell = try #require(try await part())
                #expect(unwell["healthy"] == false)
                #expect(unwell["detail"]?.string?.contains("\(Self.callbacks)/\(id) is paused") == true, "\(unwell)")
            }
        }
    }

    @Test(.enabled(if: PreloadedLibrary.compiler != nil, "no C compiler here"))
    func `a name that leads elsewhere after it was allowed gains nothing`() async throws {
        var served = LoopbackServer.Options()
        served.hostName = NameShim.name
        served.offersHTTP2 = false
        // Each request takes a connection of its own, and so another look at the name.
        try await LoopbackServer.run(served) { _ in
            .init(status: 204, headers: [("Connection", "close")])
        } during: { server in
            var settings = DaemonStage.Settings(scopes: ["callbacks:manage"])
            settings.callbacks =
                "{ allowedHosts: [\(NameShim.name)], allowedNetworks: [127.0.0.1], certificateAuthorityFile: \"\(server.certificateAuthorityFile)\", timeout: 1m }"
            try await DaemonStage.with(settings) { stage in
                let shim = try await NameShim(in: stage.folder)
                let process = try await stage.start(environment: shim.environment)
                let url = "https://\(NameShim.name):\(server.port)/hook"
                let made = await stage.api().send(
                    "POST", Self.callbacks, body: ["url": .string(url), "format": "cloudevents"])
                let id = try #require(made?.json?["id"]?.string)
                func test() async -> JSONValue? {
                    await stage.api().send("POST", "\(Self.callbacks)/\(id):test")?.json
                }
                #expect(await test()?["received"] == true)
                // Another address of this machine, as an inner service has one.
                try shim.leads(to: "127.0.0.2")
                let refused = await test()
                #expect(refused?["received"] == false)
                #expect(refused?["failure"]?.string?.contains("not of the public Internet") == true)
                try shim.leads(to: "::ffff:127.0.0.2")
                #expect(await test()?["failure"]?.string?.contains("not of the public Internet") == true)
                try shim.leads(to: "127.0.0.1")
                #expect(await test()?["received"] == true)
                #expect(server.requests.count == 2)
                #expect(try await process.terminate() == 0)
            }
        }
    }

    /// Has the library of Standard Webhooks for Python verify a request, where `make check-standard-webhooks` has fetched it.
    private static func verifyByLibrary(_ request: LoopbackServer.Request, secrets: [String]) async throws {
        guard let python = ProcessInfo.processInfo.environment["STANDARD_WEBHOOKS_PYTHON"] else { return }
        let program = """
            import sys
            from standardwebhooks.webhooks import Webhook
            body, headers = sys.argv[2], dict(zip(["webhook-id", "webhook-timestamp", "webhook-signature"], sys.argv[3:6]))
            Webhook(sys.argv[1]).verify(body, headers)
            try:
                Webhook(sys.argv[1]).verify(body + " ", headers)
            except Exception:
                sys.exit(0)
            sys.exit("a changed body verifies")
            """
        for secret in secrets {
            let headers = ["webhook-id", "webhook-timestamp", "webhook-signature"].map { request.header($0) ?? "" }
            let outcome = try await ChildProcess.run(
                [python, "-c", program, secret, String(decoding: request.body, as: UTF8.self)] + headers)
            #expect(outcome.status == 0, "\(outcome)")
        }
    }
}
