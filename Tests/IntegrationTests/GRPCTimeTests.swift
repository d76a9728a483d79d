import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import Listener
import ServiceLifecycle
import TestSupport
import Testing

/// How long calls take, and what becomes of those that are under way.
@Suite(.endsHangs)
struct GRPCTimeTests {
    /// A daemon whose question about a transaction Apple answers when a gate opens.
    private func withGate(
        _ options: DaemonFixture.Options = DaemonFixture.Options(),
        _ body: @Sendable (DaemonFixture, GRPCProbe, Gate, String) async throws -> Void
    ) async throws {
        let gate = Gate()
        gate.close()
        var options = options
        options.delays = gate
        try await DaemonFixture.with(options) { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            let id = try #require(try fixture.buy(account).transactionId)
            fixture.simulator.state.inject(Fault(.latency(milliseconds: 1)))
            try await GRPCProbe.with(fixture.grpc) { grpc in
                try await body(fixture, grpc, gate, #"{"app":"coins","transactionId":"\#(id)"}"#)
            }
        }
    }

    @Test func `a client's deadline is the request's`() async throws {
        try await withGate { fixture, grpc, gate, asked in
            let late = try await grpc.call("GetTransaction", asked, timeout: .milliseconds(300))
            #expect(late.code == "DEADLINE_EXCEEDED")
            let watch = try await grpc.call("WatchEvents", #"{"app":"coins"}"#, timeout: .milliseconds(300))
            #expect(watch.code == "DEADLINE_EXCEEDED")
            gate.open()
        }
    }

    @Test func `a call that is broken off is worked on no longer`() async throws {
        try await withGate { fixture, grpc, gate, asked in
            let call = Task { try await grpc.call("GetTransaction", asked) }
            await gate.hasArrivals(1)
            call.cancel()
            _ = try? await call.value
            // It is over though Apple has not answered.
            let line = #"{listener="grpc",method="GET",route="/v1/apps/{app}/transactions/{transactionId}""#
            try await Wait.until("the request to end") {
                let metrics = try await fixture.send("GET", fixture.health + "/metrics").body
                return String(decoding: metrics, as: UTF8.self).contains("purser_http_requests_total" + line)
            }
            gate.open()
        }
    }

    @Test func `a call under way is answered while the daemon drains`() async throws {
        try await withGate { fixture, grpc, gate, asked in
            async let found = grpc.call("GetTransaction", asked)
            await gate.hasArrivals(1)
            await fixture.group.triggerGracefulShutdown()
            try await Wait.until("the daemon to drain") {
                try await fixture.send("GET", "\(fixture.health)/readyz").status == 503
            }
            gate.open()
            let code = try await found.code
            #expect(code == "OK")
        }
    }

    @Test func `calls beyond the bound are shed at once, and told when to come back`() async throws {
        var options = DaemonFixture.Options()
        options.grpcRequests = 1
        try await withGate(options) { fixture, grpc, gate, asked in
            async let found = grpc.call("GetTransaction", asked)
            await gate.hasArrivals(1)
            let shed = try await grpc.call("GetTransaction", asked)
            #expect(shed.code == "UNAVAILABLE")
            #expect(shed.problem?["reason"] == "OVERLOADED" && shed.problem?["retryAfter"] == 1)
            gate.open()
            let code = try await found.code
            #expect(code == "OK")
        }
    }
}
