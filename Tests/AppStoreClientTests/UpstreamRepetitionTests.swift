import AppStoreAPI
import Curl
import Domain
import Foundation
import TestSupport
import Testing

@testable import AppStoreClient

/// Which calls are made again, and after what.
struct UpstreamRepetitionTests {
    private static let neverRepeated = Endpoint.Operation.allCases.filter { $0.repetition == .never }
    private static let identified = Endpoint.Operation.allCases.filter { $0.repetition == .sameIdentifier }
    private static let safe = Endpoint.Operation.allCases.filter { $0.repetition == .safe }

    /// A body with the identifier by which Apple recognises a repetition.
    private static func body(_ operation: Endpoint.Operation) -> String {
        operation.api == .advancedCommerce
            ? #"{"requestInfo":{"requestReferenceId":"r"}}"# : #"{"requestIdentifier":"r"}"#
    }

    @Test func `a call without a second chance is not made again after a 5xx, and its outcome is unknown`() async throws
    {
        try await UpstreamFixture.run(
            handler: { _ in .apple(5_000_001) },
            during: { fixture in
                for operation in Self.neverRepeated {
                    let outcome = await fixture.make(operation)
                    #expect(outcome.reason == .outcomeUnknown, "\(operation.name)")
                    #expect(outcome.mayHaveReachedApple && outcome.attempts.count == 1)
                    #expect(outcome.refusal?.status == 500, "the door passes Apple's answer on")
                }
                #expect(fixture.server.requests.count == Self.neverRepeated.count)
            })
    }

    @Test func `safe calls, and those that carry their identifier, are made three times`() async throws {
        try await UpstreamFixture.run(
            handler: { _ in .apple(5_000_001) },
            during: { fixture in
                for operation in Self.safe + Self.identified {
                    let outcome = await fixture.make(
                        operation, body: operation.method == "GET" ? nil : Self.body(operation))
                    #expect(outcome.reason == .appleUnavailable, "\(operation.name)")
                    #expect(outcome.attempts.count == 3, "\(operation.name)")
                }
            })
    }

    @Test func `a call that has lost its identifier gets no second chance`() async throws {
        try await UpstreamFixture.run(
            handler: { _ in .apple(5_000_001) },
            during: { fixture in
                for operation in Self.identified {
                    #expect(await fixture.make(operation, body: "{}").reason == .outcomeUnknown, "\(operation.name)")
                }
                #expect(fixture.server.requests.count == Self.identified.count)
            })
    }

    @Test(arguments: [true, false])
    func `a connection that breaks during a call leaves its outcome unknown, on kept connections too`(
        offersHTTP2: Bool
    ) async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.offersHTTP2 = offersHTTP2
        try await UpstreamFixture.run(
            parts,
            handler: { request in
                if request.method == "POST" { throw Died() }
                return .init("{}")
            },
            during: { fixture in
                #expect(await fixture.make(.getTransactionInfo).reason == nil)
                #expect(await fixture.make(.requestTestNotification).reason == .outcomeUnknown)
                #expect(fixture.server.requests.count { $0.method == "POST" } == 1)
            })
    }

    @Test func `what curl sent twice may have reached Apple, whatever the second answer says`() async throws {
        let isDead = OneTime<Void>()
        var parts = UpstreamFixture.Dependencies()
        parts.offersHTTP2 = false
        try await UpstreamFixture.run(
            parts,
            handler: { request in
                guard request.method == "PUT" else { return .init("{}") }
                guard isDead.now != nil else {
                    isDead.give(())
                    throw Died()
                }
                return .apple(4_000_006)
            },
            during: { fixture in
                #expect(await fixture.make(.getTransactionInfo).reason == nil)
                let outcome = await fixture.make(.sendConsumptionInformation, body: "{}")
                #expect(fixture.server.requests.count { $0.method == "PUT" } == 2)
                #expect(outcome.attempts.map(\.httpStatus) == [400])
                #expect(outcome.mayHaveReachedApple)
            })
    }

    @Test func `what Apple refused without doing is made again, whatever it is`() async throws {
        let answers = Script([
            .apple(4_290_000, headers: [("Retry-After", "1700000000000")]), .init(status: 401), .init("{}"),
        ])
        let parts = UpstreamFixture.Dependencies()
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                let outcome = await fixture.make(.requestTestNotification)
                #expect(outcome.reason == nil)
                #expect(outcome.attempts.map(\.httpStatus) == [429, 401, 200])
                #expect(parts.budget.waits == [.zero])
                #expect(parts.budget.asked.count == 3)
            })
    }

    @Test func `a connection that never came about carried nothing`() async throws {
        try await UpstreamFixture.run(
            handler: { _ in .init("{}") },
            during: { fixture in
                let client = UpstreamFixture.Dependencies().client(
                    [.production: "https://localhost:1"], fixture.client.transport.client)
                let nowhere = UpstreamFixture(client: client, server: fixture.server, clock: fixture.clock)
                let outcome = await nowhere.make(.requestTestNotification)
                #expect(outcome.reason == .appleUnavailable)
                #expect(!outcome.mayHaveReachedApple && outcome.attempts.count == 3)
            })
    }

    @Test func `a request that Apple rejects is not made again`() async throws {
        try await UpstreamFixture.run(
            handler: { _ in .apple(4_000_006) },
            during: { fixture in
                let outcome = await fixture.make(.getTransactionInfo)
                #expect(outcome.reason == .appleRejected)
                #expect(outcome.error?.apple?.errorName == "InvalidTransactionIdError")
                #expect(fixture.server.requests.count == 1)
            })
    }

    @Test func `no attempt starts after the deadline, and no wait outlasts it`() async throws {
        let late = String(Int(TestClock.date.timeIntervalSince1970 * 1000) + 3_600_000)
        try await UpstreamFixture.run(
            handler: { _ in .apple(4_290_000, headers: [("Retry-After", late)]) },
            during: { fixture in
                #expect(await fixture.make(.getTransactionInfo, fixture.call(seconds: 0)).reason == .deadlineExceeded)
                #expect(fixture.server.requests.isEmpty)
                let outcome = await fixture.make(.getTransactionInfo, fixture.call(seconds: 3599))
                #expect(outcome.reason == .appleRateLimited)
                #expect(outcome.error?.retryAfter == .seconds(3600))
                #expect(fixture.server.requests.count == 1)
            })
    }

    @Test func `with time enough, a call waits as long as Apple asks`() async throws {
        let soon = String(Int(TestClock.date.timeIntervalSince1970 * 1000) + 10_000)
        let answers = Script([.apple(4_290_000, headers: [("Retry-After", soon)]), .init("{}")])
        let parts = UpstreamFixture.Dependencies()
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                async let outcome = fixture.make(.getTransactionInfo)
                await fixture.clock.manual.sleeperHasArrived()
                #expect(fixture.server.requests.count == 1)
                #expect(parts.budget.waits == [.seconds(10)])
                fixture.clock.manual.advance(by: .seconds(10))
                #expect(await outcome.reason == nil)
            })
    }
}
