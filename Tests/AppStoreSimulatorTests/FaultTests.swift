import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JSON
import Testing

struct FaultTests {
    private func transactionInfo(
        _ fixture: SimulatorFixture, _ id: String, in environment: SimulatedEnvironment = .sandbox
    ) async throws -> CurlResponse {
        try await fixture.call(.getTransactionInfo(transactionId: id), in: environment)
    }

    @Test func `a status stands in for the answer, in the form that goes with it`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            func answer(_ effect: Fault.Effect) async throws -> CurlResponse {
                fixture.state.inject(Fault(effect, count: 1))
                return try await transactionInfo(fixture, id)
            }
            let apple = try await answer(.status(500, errorCode: 5_000_001))
            #expect(apple.status == 500)
            #expect(try ErrorPayload(parsing: apple.body).errorCode == 5_000_001)
            let balancer = try await answer(.status(503))
            #expect(balancer.status == 503)
            #expect(balancer.headers["Content-Type"]?.hasPrefix("text/plain") == true)
            let plain = try await answer(.status(401))
            #expect(plain.status == 401)
            #expect(String(decoding: plain.body, as: UTF8.self).hasPrefix("Unauthenticated\n"))
            let limited = try await answer(
                .status(429, errorCode: 4_290_000, errorMessage: "Slow down.", retryAfter: "1800000001000"))
            #expect(limited.headers["Retry-After"] == "1800000001000")
            #expect(try ErrorPayload(parsing: limited.body).errorMessage == "Slow down.")
            #expect(try await transactionInfo(fixture, id).status == 200)
        }
    }

    @Test func `of several statuses the first speaks, and all are used up`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            fixture.state.inject(Fault(.status(502), count: 1))
            fixture.state.inject(Fault(.status(503), count: 1))
            let first = try await transactionInfo(fixture, id)
            let second = try await transactionInfo(fixture, id)
            #expect(first.status == 502)
            #expect(second.status == 200)
        }
    }

    @Test func `delays add up and the answer is right`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            fixture.state.inject(Fault(.latency(milliseconds: 100)))
            fixture.state.inject(Fault(.latency(milliseconds: 50)))
            #expect(try await transactionInfo(fixture, id).status == 200)
            #expect(fixture.delays.all == [.milliseconds(150)])
        }
    }

    /// The first call of a client, since libcurl quietly repeats what fails on a connection that it has used before.
    @Test(arguments: [false, true])
    func `a reset breaks the connection, before the work or after it`(afterProcessing: Bool) async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            fixture.state.inject(Fault(.connectionReset(afterProcessing: afterProcessing), count: 1))
            let error = await #expect(throws: CurlError.self) { try await transactionInfo(fixture, id) }
            #expect(error?.requestMayHaveBeenSent == true)
            let received = try #require(fixture.state.received.requests.last)
            #expect(received.status == nil)
            #expect(received.reason == (afterProcessing ? nil : "reset by a fault"))
            #expect(try await transactionInfo(fixture, id).status == 200)
        }
    }

    @Test func `a reset over HTTP/1.1 breaks the connection too`() async throws {
        try await SimulatorFixture.with { fixture in
            let client = try HTTP1Client(
                url: fixture.simulator.baseURL(.sandbox), trusting: fixture.simulator.tlsAuthority)
            let headers = ["Authorization: Bearer \(try fixture.token())"]
            for effect in [Fault.Effect.connectionReset(), .truncatedBody] {
                fixture.state.inject(Fault(effect, count: 1))
                await #expect(throws: (any Error).self) {
                    try await client.send("GET", "/inApps/v1/transactions/1", headers: headers)
                }
            }
            #expect(try await client.send("GET", "/inApps/v1/transactions/1", headers: headers).status == 404)
        }
    }

    @Test func `garbage is a success that nobody can read`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            fixture.state.inject(Fault(.garbage, count: 1))
            let response = try await transactionInfo(fixture, id)
            #expect(response.status == 200)
            #expect(response.body.count == 512)
            #expect(throws: JSONError.self) { try TransactionInfoResponse(parsing: response.body) }
        }
    }

    @Test func `a truncated body ends with the connection`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            fixture.state.inject(Fault(.truncatedBody, count: 1))
            await #expect(throws: CurlError.self) { try await transactionInfo(fixture, id) }
            #expect(try await transactionInfo(fixture, id).status == 200)
        }
    }

    @Test func `a wrong clock refuses good tokens and shows in the date`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            for (seconds, date) in [(3600, "Fri, 15 Jan 2027 09:00:00 GMT"), (-3600, "Fri, 15 Jan 2027 07:00:00 GMT")] {
                fixture.state.inject(Fault(.clockSkew(seconds: seconds), count: 1))
                let response = try await transactionInfo(fixture, id)
                #expect(response.status == 401)
                #expect(response.headers["Date"] == date)
            }
            #expect(try await transactionInfo(fixture, id).status == 200)
        }
    }

    @Test(arguments: Tampering.allCases)
    func `a tampered transaction does not verify`(tampering: Tampering) async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            fixture.state.inject(Fault(.tampering(tampering), count: 1))
            let response = try TransactionInfoResponse(parsing: try await transactionInfo(fixture, id).body)
            switch tampering {
            case .wrongBundleId:
                #expect(try fixture.verified(response.signedTransactionInfo).bundleId != SimulatorFixture.bundleID)
            case .wrongEnvironment:
                #expect(try fixture.verified(response.signedTransactionInfo).environment == .production)
            default:
                #expect(throws: (any Error).self) { try fixture.verified(response.signedTransactionInfo) }
            }
            let after = try TransactionInfoResponse(parsing: try await transactionInfo(fixture, id).body)
            #expect(try fixture.verified(after.signedTransactionInfo).transactionId == id)
        }
    }

    @Test func `a fault hits only the calls that it is meant for`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            fixture.state.inject(Fault(.status(500), environment: .production))
            fixture.state.inject(Fault(.status(501), operation: .getRefundHistory))
            fixture.state.inject(Fault(.status(502), bundleID: "com.example.other"))
            #expect(try await transactionInfo(fixture, id).status == 200)
            #expect(try await transactionInfo(fixture, id, in: .production).status == 500)
            #expect(try await fixture.call(.getRefundHistory(transactionId: id)).status == 501)
            fixture.state.removeAllFaults()
            #expect(try await fixture.call(.getRefundHistory(transactionId: id)).status == 200)
        }
    }

    @Test func `the record names the faults that hit`() async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.inject(Fault(.tampering(.foreignRoot)))
            fixture.state.inject(Fault(.latency(milliseconds: 1)))
            _ = try await transactionInfo(fixture, "1")
            #expect(fixture.state.received.requests.last?.faults == ["foreignRoot", "latency"])
        }
    }
}
