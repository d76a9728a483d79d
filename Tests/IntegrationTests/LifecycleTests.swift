import AppStoreAPI
import AppStoreSimulator
import Domain
import Foundation
import JSON
import ServiceLifecycle
import TestSupport
import Testing

/// Start, health, drain and exit.
struct LifecycleTests {
    @Test func `it says when it is ready and when it stops, and tells how it is in between`() async throws {
        let heard = try await withFixture { fixture in
            #expect(try await fixture.send("GET", "\(fixture.health)/livez").status == 200)
            try await Wait.until("the daemon to be ready") {
                try await fixture.send("GET", "\(fixture.health)/readyz").status == 200
            }
            return fixture.notifications
        }
        let texts = heard.all
        let ready = try #require(texts.firstIndex { $0.contains("READY=1") })
        let stopping = try #require(texts.firstIndex { $0.contains("STOPPING=1") })
        #expect(ready < stopping)
        #expect(texts.contains { $0.contains("EXTEND_TIMEOUT_USEC=") })
        #expect(texts.contains { $0.contains("STATUS=Serving 1 apps, 1 of them with an active key") })
    }

    @Test func `whoever ends it in the moment in which it is ready finds it draining`() async throws {
        try await DaemonStage.with { stage in
            let manager = try NotifySocket(in: stage.folder)
            for _ in 0..<8 {
                let process = try stage.launch(environment: manager.environment)
                try await manager.hears("READY=1", times: 1)
                #expect(try await process.terminate() == 0)
                #expect(process.log.text.contains("Draining"))
            }
        }
    }

    @Test func `the metrics count requests, calls, tokens and verifications`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let id = try #require(try fixture.buy(account).transactionId)
            _ = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            let reply = try await fixture.send("GET", "\(fixture.health)/metrics")
            let text = String(decoding: reply.body, as: UTF8.self)
            #expect(reply.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
            for line in [
                #"purser_http_requests_total{listener="api",method="GET",route="/v1/apps/{app}/transactions/{transactionId}",status="200"} 1"#,
                #"purser_upstream_calls_total{app="coins",endpoint="Get Transaction Info",environment="Production",status="200"} 1"#,
                "purser_tokens_minted_total 1", #"purser_verifications_total{result="verified"} 1"#,
                "# TYPE purser_upstream_call_duration_seconds histogram",
            ] {
                #expect(text.contains(line), "\(line)")
            }
            #expect(!text.contains(id), "no identifier of a customer is in a metric")
        }
    }

    @Test func `a request in flight is finished while it drains`() async throws {
        let gate = Gate()
        gate.close()
        try await DaemonFixture.with(.init(delays: gate)) { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let id = try #require(try fixture.buy(account).transactionId)
            fixture.simulator.state.inject(Fault(.latency(milliseconds: 1)))
            async let answer = fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            await gate.hasArrivals(1)
            await fixture.group.triggerGracefulShutdown()
            try await Wait.until("the daemon to drain") {
                try await fixture.send("GET", "\(fixture.health)/readyz").status == 503
            }
            gate.open()
            #expect(try await answer.status == 200)
        }
    }

    private func withFixture(
        _ body: @Sendable @escaping (DaemonFixture) async throws -> Notifications
    ) async throws -> Notifications {
        let (results, continuation) = AsyncStream.makeStream(of: Notifications.self)
        try await DaemonFixture.with { fixture in continuation.yield(try await body(fixture)) }
        continuation.finish()
        var last: Notifications?
        for await result in results { last = result }
        return try #require(last)
    }
}
