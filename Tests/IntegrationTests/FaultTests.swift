import AppStoreAPI
import AppStoreSimulator
import Domain
import Foundation
import JSON
import TestSupport
import Testing

/// What callers see when Apple, or what stands between, misbehaves.
struct FaultTests {
    /// Runs a test with one purchase in production.
    private func withPurchase(
        _ options: DaemonFixture.Options = .init(),
        _ body: @Sendable @escaping (DaemonFixture, String) async throws -> Void
    ) async throws {
        try await DaemonFixture.with(options) { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            try await body(fixture, try #require(try fixture.buy(account).transactionId))
        }
    }

    @Test func `a retryable failure is tried three times, and no more`() async throws {
        try await withPurchase { fixture, id in
            let state = fixture.simulator.state
            state.inject(Fault(.status(500, errorCode: 5_000_001), count: 2))
            #expect(try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)").status == 200)
            #expect(fixture.calls(.getTransactionInfo) == 3)
            state.clearReceived()
            state.inject(Fault(.status(500, errorCode: 5_000_001)))
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(reply.status == 503)
            #expect(try reply.json["apple"]?["errorCode"] == 5_000_001)
            #expect(fixture.calls(.getTransactionInfo) == 3)
        }
    }

    @Test func `a refusal is not repeated`() async throws {
        try await withPurchase { fixture, id in
            fixture.simulator.state.inject(Fault(.status(400, errorCode: 4_000_006)))
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(reply.status == 400)
            #expect(try reply.json["apple"]?["errorName"] == "InvalidTransactionIdError")
            #expect(fixture.calls(.getTransactionInfo) == 1)
        }
    }

    @Test func `an app that Apple does not know is our fault, and nobody's transaction is missing`() async throws {
        try await withPurchase { fixture, id in
            fixture.simulator.state.inject(Fault(.status(404, errorCode: 4_040_003)))
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(reply.status == 502)
            #expect(try reply.json["reason"] == "APPLE_APP_UNKNOWN")
            #expect(try reply.json["apple"]?["errorName"] == "AppNotFoundError")
        }
    }

    @Test
    func `a token that Apple refuses once is replaced, one that it always refuses is our fault`()
        async throws
    {
        try await withPurchase { fixture, id in
            let state = fixture.simulator.state
            state.inject(Fault(.status(401), count: 1))
            #expect(try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)").status == 200)
            #expect(fixture.calls(.getTransactionInfo) == 2)
            state.clearReceived()
            try state.revokeKey("ABCDEFGHIJ")
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(reply.status == 502)
            #expect(try reply.json["reason"] == "APPLE_UNAUTHORIZED")
            // The call with the token minted just now, and the canary in each environment that finds out why.
            #expect(fixture.calls(.getTransactionInfo) == 3)
            let spared = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(spared.status == 502 && fixture.calls(.getTransactionInfo) == 3)
        }
    }

    @Test func `Apple's rate limit is passed on in seconds when it is too long to wait`() async throws {
        try await withPurchase { fixture, id in
            let later = Int64((Date().timeIntervalSince1970 + 3600) * 1000)
            fixture.simulator.state.inject(
                Fault(.status(429, errorCode: 4_290_000, retryAfter: String(later))))
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(reply.status == 429)
            let seconds = try #require(reply.headers["retry-after"].flatMap { Int($0) })
            #expect((3000...3600).contains(seconds))
            #expect(fixture.calls(.getTransactionInfo) == 1)
        }
    }

    @Test(arguments: Tampering.allCases)
    func `data that Apple did not sign for this app is not passed on`(tampering: Tampering)
        async throws
    {
        try await withPurchase { fixture, id in
            fixture.simulator.state.inject(Fault(.tampering(tampering)))
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(reply.status == 502)
            #expect(try reply.json["reason"] == "APPLE_ANSWER_INVALID")
        }
    }

    @Test func `an answer that makes no sense is not Apple's, and is not passed on`() async throws {
        try await withPurchase { fixture, id in
            fixture.simulator.state.inject(Fault(.garbage))
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(reply.status == 503)
            #expect(try reply.json["reason"] == "APPLE_UNAVAILABLE")
        }
    }

    @Test(arguments: [Fault.Effect.truncatedBody, .connectionReset()])
    func `a connection that breaks is tried again`(effect: Fault.Effect) async throws {
        try await withPurchase { fixture, id in
            fixture.simulator.state.inject(Fault(effect, count: 1))
            let second = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(second.status == 200)
            fixture.simulator.state.inject(Fault(effect))
            let last = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(last.status == 503)
        }
    }

    @Test func `consumption whose outcome is unknown says so, and that it may have arrived`()
        async throws
    {
        let time = MovableTime()
        try await withPurchase(.init(now: time.now)) { fixture, id in
            fixture.simulator.state.inject(
                Fault(.connectionReset(afterProcessing: true), operation: .sendConsumptionInformation))
            let deadline = DaemonFixture.time(inSeconds: TimeInterval(Wait.seconds))
            async let answer = fixture.send(
                "POST", "/v1/apps/coins/transactions/\(id)/consumption",
                body: DaemonFixture.consumption(("deadline", deadline)))
            try await fixture.isReceived(id)
            time.advance(by: TimeInterval(Wait.seconds))
            let reply = try await answer
            #expect(try reply.json["reason"] == "DEADLINE_EXCEEDED", "\(String(decoding: reply.body, as: UTF8.self))")
            let delivery = try #require(try reply.json["delivery"])
            #expect(delivery["state"] == "expired" && delivery["mayHaveReachedApple"] == true)
            #expect(delivery["attempts"]?[0]?["httpStatus"] == .null)
            #expect(fixture.received(id).count >= 1)
        }
    }

    @Test func `consumption that Apple refuses keeps Apple's status`() async throws {
        try await withPurchase { fixture, id in
            fixture.simulator.state.inject(
                Fault(.status(400, errorCode: 4_000_047), operation: .sendConsumptionInformation))
            let reply = try await fixture.send(
                "POST", "/v1/apps/coins/transactions/\(id)/consumption",
                body: DaemonFixture.consumption())
            #expect(reply.status == 400)
            #expect(try reply.json["delivery"]?["state"] == "refused")
            #expect(try reply.json["delivery"]?["mayHaveReachedApple"] == false)
        }
    }

    @Test func `a caller's deadline ends the waiting`() async throws {
        let never = Gate()
        never.close()
        try await withPurchase(.init(deadline: .milliseconds(300), delays: never)) { fixture, id in
            fixture.simulator.state.inject(Fault(.latency(milliseconds: 1)))
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)")
            #expect(reply.status == 504)
            #expect(try reply.json["reason"] == "DEADLINE_EXCEEDED", "\(String(decoding: reply.body, as: UTF8.self))")
        }
    }

    @Test
    func `an app that was never released is served from the sandbox when only that is configured`()
        async throws
    {
        try await DaemonFixture.with(.init(environments: [.sandbox], isReleasedToProduction: false)) {
            fixture in
            let account = try fixture.simulator.state.createAccount(in: .sandbox).id
            let id = try #require(try fixture.buy(account).transactionId)
            #expect(try await fixture.send("GET", "/v1/apps/coins/transactions/\(id)").status == 200)
            #expect(fixture.calls(.getTransactionInfo, .production) == 0)
            let production = try await fixture.send(
                "GET", "/v1/apps/coins/transactions/\(id)?environment=Production")
            #expect(production.status == 400)
        }
    }

    @Test func `a list that fails half way says so at its end`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            var last = ""
            for number in 0..<25 {
                last = try #require(try fixture.buy(account, "gems.\(number)").transactionId)
            }
            fixture.simulator.state.inject(
                Fault(.status(500, errorCode: 5_000_000), operation: .getTransactionHistory, skip: 1))
            let reply = try await fixture.send("GET", "/v1/apps/coins/transactions/\(last)/history")
            #expect(reply.status == 200)
            #expect(try reply.json["transactions"]?.array?.count == 20)
            #expect(try reply.json["complete"] == false)
            #expect(try reply.json["problem"]?["reason"] == "APPLE_UNAVAILABLE")
        }
    }
}
