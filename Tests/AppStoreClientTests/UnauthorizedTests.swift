import AppStoreAPI
import Domain
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AppStoreClient

/// What happens when Apple answers 401.
struct UnauthorizedTests {
    private static let probe = "inApps/v1/transactions/0"

    /// Answers 401 to the keys that are refused in an environment, 4040010 to the canary and an empty object to others.
    private static func apple(
        refusing refused: @escaping @Sendable (_ keyID: String, _ environment: String) -> Bool, date: String? = nil
    ) -> LoopbackServer.Handler {
        { request in
            let keyID = request.header("Authorization")?.dropFirst("Bearer ".count).prefix { $0 != "." } ?? ""
            let environment = request.path.split(separator: "/").first ?? ""
            guard refused(String(keyID), String(environment)) else {
                return request.path.hasSuffix(probe) ? .apple(4_040_010) : .init("{}")
            }
            return .init(status: 401, headers: date.map { [("Date", $0)] } ?? [])
        }
    }

    /// The time of the test's clock and so many seconds more, as HTTP writes it (RFC 9110 section 5.6.7).
    private static func httpDate(_ seconds: TimeInterval) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: TestClock.date.addingTimeInterval(seconds))
    }

    @Test func `a refused token is replaced once, and the call made again`() async throws {
        let answers = Script([.init(status: 401), .init("{}")])
        let parts = UpstreamFixture.Dependencies()
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                #expect(await fixture.make(.requestTestNotification).reason == nil)
                #expect(
                    fixture.calls == [
                        "/production/inApps/v1/notifications/test ACTIVE.1",
                        "/production/inApps/v1/notifications/test ACTIVE.2",
                    ])
                #expect(parts.budget.asked.count == 2)
            })
    }

    @Test func `one probe serves all who wait, and its finding spares Apple and the key for a minute`() async throws {
        let parts = UpstreamFixture.Dependencies()
        try await UpstreamFixture.run(parts, handler: Self.apple { _, _ in true }) { fixture in
            await withTaskGroup(of: ServiceError?.self) { group in
                for number in 0..<20 {
                    let endpoint = Endpoint.getTransactionInfo(transactionId: "\(number + 1)")
                    group.addTask {
                        await Call(fixture.client, UpstreamRequest(endpoint), fixture.call(), in: .production)
                            .result().error
                    }
                }
                for await error in group {
                    #expect(error?.reason == .appleUnauthorized)
                    #expect(error?.message.contains("key ACTIVE") == true)
                    #expect(error?.cause == "key_refused, key ACTIVE")
                }
            }
            #expect(
                fixture.calls.filter { $0.contains(Self.probe) } == [
                    "/production/\(Self.probe) ACTIVE.2", "/sandbox/\(Self.probe) ACTIVE.2",
                ])
            #expect(parts.tokens.generation == 2)

            let before = fixture.server.requests.count
            let spared = await fixture.make(.getRefundHistory)
            #expect(spared.reason == .appleUnauthorized && spared.error?.retryAfter == .seconds(60))
            #expect(fixture.server.requests.count == before)
            fixture.clock.manual.advance(by: .seconds(60))
            _ = await fixture.make(.getRefundHistory)
            #expect(fixture.server.requests.count == before + 3, "the call and two canaries, and no fresh token")
        }
    }

    @Test func `an app without a production release is told so, blames no key and is served by the sandbox`()
        async throws
    {
        let signer = try TestSigner()
        let signed = try signer.transaction("7", environment: "Sandbox")
        var parts = UpstreamFixture.Dependencies()
        parts.signer = signer
        parts.tokens = FakeTokens(standby: ["STANDBY"])
        let apple = Self.apple { _, environment in environment == "production" }
        try await UpstreamFixture.run(
            parts,
            handler: { request in
                request.path == "/sandbox/inApps/v1/transactions/7"
                    ? .init(#"{"signedTransactionInfo":"\#(signed)"}"#) : try await apple(request)
            },
            during: { fixture in
                #expect(await fixture.make(.getRefundHistory).reason == .noProductionRelease)
                let found = try await fixture.client.transaction("7", fixture.call(nil))
                #expect(found.environment == .sandbox)
                #expect(parts.tokens.activeKeyID == "ACTIVE")
                fixture.clock.manual.advance(by: .seconds(3599))
                let before = fixture.server.requests.count
                #expect(await fixture.make(.getRefundHistory).reason == .noProductionRelease)
                #expect(fixture.server.requests.count == before)
                fixture.clock.manual.advance(by: .seconds(1))
                #expect(await fixture.make(.getRefundHistory, fixture.call()).reason == .noProductionRelease)
                #expect(fixture.server.requests.count > before, "it looks again after an hour")
            })
    }

    @Test func `an app that has succeeded in Production has a release`() async throws {
        let isShut = Counter()
        try await UpstreamFixture.run(
            handler: Self.apple { _, environment in environment == "production" && isShut.value > 0 },
            during: { fixture in
                #expect(await fixture.make(.getTransactionInfo).reason == nil)
                isShut.increment()
                let outcome = await fixture.make(.getTransactionInfo)
                #expect(outcome.reason == .appleUnauthorized)
                #expect(outcome.error?.cause == "refused_here, key ACTIVE")
            })
    }

    /// What a call says of Production's 401 while the sandbox takes the key.
    private func cause(_ parts: UpstreamFixture.Dependencies) async throws -> String? {
        let cause = Mutex(String?.none)
        try await UpstreamFixture.run(parts, handler: Self.apple { _, environment in environment == "production" }) {
            let error = await $0.make(.getTransactionInfo).error
            cause.withLock { $0 = error?.cause }
        }
        return cause.withLock(\.self)
    }

    @Test func `that it has succeeded is kept beyond a restart, and written once`() async throws {
        let parts = UpstreamFixture.Dependencies()
        try await UpstreamFixture.run(parts, handler: Self.apple { _, _ in false }) { fixture in
            #expect(await fixture.make(.getTransactionInfo, in: .sandbox).reason == nil)
            await fixture.client.saveMemory()
            #expect(await parts.releases.writes == 0, "the sandbox is no release")
            for _ in 0..<3 {
                #expect(await fixture.make(.getTransactionInfo).reason == nil)
                await fixture.client.saveMemory()
            }
            #expect(await parts.releases.writes == 1)
        }
        #expect(try await cause(parts) == "refused_here, key ACTIVE")
        #expect(try await cause(UpstreamFixture.Dependencies()) == "no_production_release, key ACTIVE")
    }

    @Test func `nobody is told that there is no release by a store that cannot be read`() async throws {
        let parts = UpstreamFixture.Dependencies()
        await parts.releases.fail(with: ServiceError(.storeUnavailable, "The store is away."))
        #expect(try await cause(parts) == "undetermined, key ACTIVE")
    }

    @Test func `a success that could not be kept is kept later`() async throws {
        let parts = UpstreamFixture.Dependencies()
        try await UpstreamFixture.run(parts, handler: Self.apple { _, _ in false }) { fixture in
            #expect(await fixture.make(.getTransactionInfo).reason == nil)
            await parts.releases.fail(with: ServiceError(.storeUnavailable, "The store is away."))
            await fixture.client.saveMemory()
            await parts.releases.fail(with: nil)
            await fixture.client.saveMemory()
        }
        #expect(try await parts.releases.hasRelease(bundleID: UpstreamFixture.app.bundleID))
    }

    @Test func `the standby key takes over where the active one fails, and calls go on`() async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.tokens = FakeTokens(standby: ["BAD", "STANDBY"])
        try await UpstreamFixture.run(parts, handler: Self.apple { keyID, _ in keyID != "STANDBY" }) { fixture in
            #expect(await fixture.make(.requestTestNotification).reason == nil)
            #expect(parts.tokens.activeKeyID == "STANDBY")
            #expect(
                fixture.calls.suffix(4) == [
                    "/production/\(Self.probe) ACTIVE.2", "/production/\(Self.probe) BAD.1000",
                    "/production/\(Self.probe) STANDBY.1000",
                    "/production/inApps/v1/notifications/test STANDBY.1000",
                ])
        }
    }

    @Test func `a key that has taken over for the other environment meanwhile is tried here, too`() async throws {
        let tokens = FakeTokens(standby: ["STANDBY"])
        var parts = UpstreamFixture.Dependencies()
        parts.tokens = tokens
        let refusals = Mutex(0)
        let handler = Self.apple { keyID, _ in
            guard keyID != "STANDBY" else { return false }
            // The call, its repetition with a fresh token, and then the probe.
            let count = refusals.withLock { refusals in
                refusals += 1
                return refusals
            }
            if count == 3 { tokens.takeOver(by: "STANDBY") }
            return true
        }
        try await UpstreamFixture.run(parts, handler: handler) { fixture in
            #expect(await fixture.make(.requestTestNotification).reason == nil)
            #expect(fixture.calls.last?.hasSuffix("STANDBY.1000") == true)
        }
    }

    @Test func `a standby key that fares no better stays where it is`() async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.tokens = FakeTokens(standby: ["STANDBY"])
        try await UpstreamFixture.run(parts, handler: Self.apple { _, _ in true }) { fixture in
            #expect(await fixture.make(.getTransactionInfo).error?.cause == "key_refused, key ACTIVE")
            #expect(parts.tokens.activeKeyID == "ACTIVE")
        }
    }

    @Test(arguments: [
        (-31.0, "clock_skew, key ACTIVE"), (-29, "key_refused, key ACTIVE"), (300, "key_refused, key ACTIVE"),
        (1200, "clock_skew, key ACTIVE"),
    ])
    func `the clock is blamed only if it explains the refusal`(appleIsAhead: TimeInterval, cause: String) async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.tokens = FakeTokens(standby: ["STANDBY"])
        let apple = Self.apple(refusing: { _, _ in true }, date: Self.httpDate(appleIsAhead))
        try await UpstreamFixture.run(parts, handler: apple) { fixture in
            let error = await fixture.make(.getTransactionInfo).error
            #expect(error?.reason == .appleUnauthorized)
            #expect(error?.cause == cause)
            if cause.hasPrefix("clock") {
                #expect(error?.message.contains(appleIsAhead < 0 ? "31 seconds ahead" : "1200 seconds behind") == true)
                #expect(!fixture.calls.contains { $0.contains("STANDBY") })
            }
        }
    }

    @Test func `a key that Apple takes for another app points at the bundle id`() async throws {
        let gems = App(slug: "gems", bundleID: "com.example.gems")
        let isShut = Counter()
        try await UpstreamFixture.run(
            handler: Self.apple { _, _ in isShut.value > 0 },
            during: { fixture in
                let call = UpstreamCall(
                    app: gems, environment: .production, deadline: fixture.clock.after(.seconds(3600)))
                #expect(await fixture.make(.getTransactionInfo, call).reason == nil)
                isShut.increment()
                #expect(await fixture.make(.getTransactionInfo).error?.cause == "bundle_id_refused, key ACTIVE")
            })
    }

    @Test func `a refusal that the probe does not share is retried once, and not looked into again at once`()
        async throws
    {
        try await UpstreamFixture.run(
            handler: { $0.path.hasSuffix(Self.probe) ? .apple(4_040_010) : .init(status: 401) },
            during: { fixture in
                #expect(await fixture.make(.getRefundHistory).reason == .appleUnauthorized)
                #expect(fixture.server.requests.count == 4, "two tokens, the probe, and once more")
                let outcome = await fixture.make(.getRefundHistory)
                #expect(outcome.error?.cause == "refused_for_some_calls, key ACTIVE")
                #expect(fixture.server.requests.count == 5)
            })
    }

    @Test func `a probe without an answer proves nothing`() async throws {
        try await UpstreamFixture.run(
            handler: { $0.path.hasSuffix(Self.probe) ? .init(status: 503) : .init(status: 401) },
            during: { fixture in
                #expect(await fixture.make(.getRefundHistory).error?.cause == "undetermined, key ACTIVE")
            })
    }

    @Test func `a probe whose connection breaks is made once more`() async throws {
        let probes = Mutex(0)
        try await UpstreamFixture.run(
            handler: { request in
                guard request.path.hasSuffix(Self.probe), request.path.hasPrefix("/production") else {
                    return .init(status: 401)
                }
                var answer = LoopbackServer.Response(status: 401)
                let number = probes.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 { answer.breaksOffAfter = 0 }
                return answer
            },
            during: { fixture in
                #expect(await fixture.make(.getRefundHistory).error?.cause == "key_refused, key ACTIVE")
                #expect(probes.withLock { $0 } == 2)
            })
    }

    @Test func `a caller in a hurry learns nothing, and stops nobody else's calls`() async throws {
        let gate = Gate()
        gate.close()
        try await UpstreamFixture.run(
            handler: { request in
                guard request.path.hasSuffix(Self.probe) else { return .init(status: 401) }
                await gate.pass()
                return .init(status: 503)
            },
            during: { fixture in
                let hasty = Task { await fixture.make(.getRefundHistory) }
                await gate.hasArrivals(1)
                hasty.cancel()
                _ = await hasty.value
                gate.open()
                let diagnosis = fixture.client.unauthorized
                #expect(diagnosis.finding(for: UpstreamFixture.app, in: .production, keyID: "ACTIVE") == nil)
                #expect(await fixture.make(.getRefundHistory).attempts.count == 1)
            })
    }
}
