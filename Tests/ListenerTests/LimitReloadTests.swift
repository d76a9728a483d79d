import Foundation
import HummingbirdCore
import Listener
import NIOPosix
import TestSupport
import Testing

/// Limits and certificates that a reload brings while a listener serves.
@Suite(.endsHangs) struct LimitReloadTests {
    private func listener(_ configuration: ListenerConfiguration, _ gate: Gate) -> Listener {
        Listener(
            configuration: configuration, answering: ListenerFixture.echo(behind: gate),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
    }

    @Test func `other sizes count for new connections`() async throws {
        var configuration = ListenerConfiguration.patient()
        (configuration.maximumBodyBytes, configuration.maximumHeaderBytes) = (1000, 1000)
        let gate = Gate()
        let listener = listener(configuration, gate)
        configuration.maximumBodyBytes = 2000
        configuration.maximumHeaderBytes = 4000
        let wider = configuration
        try await ListenerFixture.run(listener, gate) { fixture in
            let body = String(repeating: "b", count: 2000)
            let open = try await fixture.connect()
            try await open.request("GET", "/first")
            #expect(try await open.response().status == 200)
            listener.takeLimits(of: wider)
            try await open.request("POST", "/", headers: ["Content-Length: 2000"])
            #expect(try await open.response().status == 413, "what has begun goes by the limits of its beginning")
            let new = try await fixture.connect()
            try await new.request("POST", "/", headers: ["A: \(String(repeating: "a", count: 2000))"], body: body)
            #expect(try await new.response().body == "POST / \(body)")
        }
    }

    @Test func `more requests are let in at once, and fewer`() async throws {
        var configuration = ListenerConfiguration.patient()
        configuration.maximumRequests = 1
        let gate = Gate()
        let listener = listener(configuration, gate)
        let one = configuration
        configuration.maximumRequests = 2
        let two = configuration
        try await ListenerFixture.run(listener, gate) { fixture in
            gate.close()
            let clients = [try await fixture.connect(), try await fixture.connect(), try await fixture.connect()]
            try await clients[0].request("GET", "/0")
            await gate.hasArrivals(1)
            try await clients[1].request("GET", "/1")
            #expect(try await clients[1].response().status == 503)
            listener.takeLimits(of: two)
            try await clients[1].request("GET", "/1")
            await gate.hasArrivals(2)
            listener.takeLimits(of: one)
            try await clients[2].request("GET", "/2")
            #expect(try await clients[2].response().status == 503)
            gate.open()
            #expect(try await clients[0].response().status == 200)
            #expect(try await clients[1].response().status == 200, "who was let in is not sent away")
        }
    }

    @Test func `prepared TLS is shown once it is taken, and files of no use change nothing`() async throws {
        let (old, new) = (try ClientCertificateTests.Files(), try ClientCertificateTests.Files())
        try await ListenerFixture.with(old.configure, answering: PeerCredentialTests.tellingPeer) { fixture in
            func isServed(_ files: ClientCertificateTests.Files) async throws -> Bool {
                try await ClientCertificateTests.asked(
                    fixture, trusting: files.servers, showing: try files.clients.client(["spiffe://example.org/a"]))
                    != nil
            }
            let certificates = try #require(fixture.certificates)
            var broken = new.tls
            broken.privateKeyFile = old.tls.privateKeyFile
            await #expect(throws: ListenerError.Reason.self) { _ = try await ListenerCertificates.prepare(broken) }
            let prepared = try await ListenerCertificates.prepare(new.tls)
            #expect(try await isServed(old))
            #expect(try await !isServed(new))
            #expect(certificates.take(prepared))
            #expect(try await isServed(new))
            #expect(try await !isServed(old))
            // From now on the new files are those that are looked at.
            await certificates.refresh()
            #expect(!certificates.take(try await ListenerCertificates.prepare(new.tls)), "nothing is other than before")
            #expect(try await isServed(new))
        }
        try old.remove()
        try new.remove()
    }
}
