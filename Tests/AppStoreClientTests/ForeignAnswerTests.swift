import AppStoreAPI
import Domain
import Foundation
import TestSupport
import Testing

@testable import AppStoreClient

/// What a machine between us and Apple answers in Apple's place is no answer of Apple's.
struct ForeignAnswerTests {
    /// An answer as proxies, filters and captive portals give it.
    struct Foreign: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let response: LoopbackServer.Response

        init(_ name: String, _ response: LoopbackServer.Response) {
            testDescription = name
            self.response = response
        }
    }

    private static let page = "<html><body>Access denied</body></html>"
    private static let answers =
        [302, 307, 400, 403, 404, 405, 407, 408, 410, 413, 418, 421, 451].map {
            Foreign("\($0)", .init(status: $0, headers: [("Location", "http://portal.example/")], page))
        } + [
            Foreign("403 and nothing", .init(status: 403)), Foreign("404 and nothing", .init(status: 404)),
            Foreign("404 in JSON of its own", .init(status: 404, #"{"error":"no route"}"#)),
            Foreign("half of Apple's error", .init(status: 404, #"{"errorCode":4040010,"errorMess"#)),
            Foreign("a page", .init(page)), Foreign("garbage", .init("\u{1}\u{2}garbage")),
        ]

    @Test(arguments: answers)
    func `no read takes it for Apple's, and each is made again`(foreign: Foreign) async throws {
        try await UpstreamFixture.run(
            handler: { _ in foreign.response },
            during: { fixture in
                for operation in [
                    Endpoint.Operation.getTransactionInfo, .getTransactionHistory, .getRefundHistory,
                    .getAppTransactionInfo,
                ] {
                    let result = await fixture.make(operation)
                    #expect(result.reason == .appleUnavailable && result.error?.apple == nil, "\(operation.name)")
                    #expect(result.attempts.map(\.httpStatus) == Array(repeating: foreign.response.status, count: 3))
                    #expect(result.failure?.isElsewhere == false && result.refusal == nil)
                }
            })
    }

    @Test func `that there is no look-up of orders is Apple's answer, though it has no body`() async throws {
        try await UpstreamFixture.run(
            handler: { _ in .init(status: 404) },
            during: { fixture in
                let result = await fixture.make(.lookUpOrderID)
                #expect(result.reason == .appleRejected && result.error?.apple?.httpStatus == 404)
                #expect(result.attempts.count == 1 && result.refusal != nil)
            })
    }

    @Test(arguments: answers + [Foreign("200 and nothing", .init()), Foreign("204", .init(status: 204))])
    func `it neither accepts a consumption answer nor refuses it`(foreign: Foreign) async throws {
        try await UpstreamFixture.run(
            handler: { _ in foreign.response },
            during: { fixture in
                for version in [DeliveryVersion.v1, .v2] {
                    let message = ConsumptionMessage(version: version, transactionID: "1", body: Array("{}".utf8))
                    let result = await fixture.client.sendConsumption(message, fixture.call())
                    #expect(result.reason == .appleUnavailable && result.error?.isFinalRefusal == false)
                    #expect(result.mayHaveReachedApple && result.failure?.isSharedByEnvironment == false)
                    #expect(result.attempts.map(\.httpStatus) == [foreign.response.status])
                }
            })
    }

    @Test(arguments: answers)
    func `the other environment is not asked because of it, and nothing is remembered`(foreign: Foreign) async throws {
        let signer = try TestSigner()
        var parts = UpstreamFixture.Dependencies()
        parts.signer = signer
        try await UpstreamFixture.run(
            parts, handler: { _ in foreign.response },
            during: { fixture in
                await #expect(throws: ServiceError(.appleUnavailable, "")) {
                    _ = try await fixture.client.transaction("1", fixture.call(nil))
                }
                #expect(!fixture.server.requests.contains { $0.path.hasPrefix("/sandbox") })
            })
    }

    @Test(arguments: answers)
    func `a call that must not be repeated is not, since Apple may have it`(foreign: Foreign) async throws {
        try await UpstreamFixture.run(
            handler: { _ in foreign.response },
            during: { fixture in
                #expect(await fixture.make(.requestTestNotification).reason == .outcomeUnknown)
                #expect(fixture.server.requests.count == 1)
            })
    }

    @Test(arguments: answers)
    func `it keeps nobody from looking for the cause of a 401`(foreign: Foreign) async throws {
        try await UpstreamFixture.run(
            handler: { $0.path.hasSuffix("/transactions/0") ? foreign.response : .init(status: 401) },
            during: { fixture in
                let result = await fixture.make(.getTransactionInfo)
                #expect(result.error?.cause?.hasPrefix("undetermined") == true, "\(result.error?.cause ?? "")")
            })
    }

    @Test(arguments: answers)
    func `no door passes it on as Apple's`(foreign: Foreign) async throws {
        try await UpstreamFixture.run(
            handler: { _ in foreign.response },
            during: { fixture in
                let request = AppleProxyRequest(
                    method: "GET", path: "/inApps/v1/transactions/1", query: nil, contentType: nil, body: nil)
                await #expect(throws: ServiceError(.appleUnavailable, "")) {
                    _ = try await fixture.client.forward(request, fixture.call())
                }
            })
    }

    @Test func `sustained, it opens the breaker like any outage`() async throws {
        var parts = UpstreamFixture.Dependencies()
        parts.breaker = CircuitBreakerPolicy(
            failures: 3, sustained: .zero, firstPause: .seconds(5), longestPause: .seconds(60))
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(status: 403, Self.page) },
            during: { fixture in
                _ = await fixture.make(.getTransactionInfo)
                #expect(fixture.client.health().map(\.isHealthy) == [false, true])
            })
    }

    @Test func `half an answer is none`() async throws {
        try await UpstreamFixture.run(
            handler: { _ in .init(#"{"signedTransactionInfo":"a.b"#) },
            during: { fixture in
                await #expect(throws: ServiceError(.appleAnswerInvalid, "")) {
                    _ = try await fixture.client.transaction("1", fixture.call())
                }
            })
    }

    @Test func `Apple's own refusals keep their meaning, with blanks around them too`() async throws {
        try await UpstreamFixture.run(
            handler: { _ in .init(status: 404, " \n{\"errorCode\":4040010,\"errorMessage\":\"Not found.\"}\n") },
            during: { fixture in
                let result = await fixture.make(.getTransactionInfo)
                #expect(result.reason == .appleRejected && result.failure?.isElsewhere == true)
            })
    }
}

/// How long Apple asks to wait, by Apple's own clock.
struct RetryAfterTests {
    private static let time = Int(TestClock.date.timeIntervalSince1970)

    private static func date(_ seconds: Int) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
    }

    /// What a 429 makes us wait.
    private func wait(_ headers: [(name: String, value: String)]) async throws -> Duration? {
        // Written by the one task that `run` awaits, and read after it.
        nonisolated(unsafe) var wait: Duration?
        try await UpstreamFixture.run(
            handler: { _ in .apple(4_290_000, headers: headers) },
            during: { fixture in
                let message = ConsumptionMessage(version: .v2, transactionID: "1", body: Array("{}".utf8))
                wait = await fixture.client.sendConsumption(message, fixture.call()).error?.retryAfter
            })
        return wait
    }

    @Test(arguments: [-46_800, 0, 3600, 46_800])
    func `a clock of ours that is wrong does not change it`(skew: Int) async throws {
        let apple = Self.time + skew
        let headers = [("Retry-After", "\(apple + 90)000"), ("Date", Self.date(apple))]
        #expect(try await wait(headers) == .seconds(90))
    }

    @Test(arguments: ["\(time + 90)000000", "\(time + 86_401)000", "9223372036854775807"])
    func `what no limit of Apple's could mean is an hour`(value: String) async throws {
        #expect(try await wait([("Retry-After", value), ("Date", Self.date(Self.time))]) == .seconds(3600))
    }

    @Test func `up to a day it is believed, and in the past it is none`() async throws {
        let date = ("Date", Self.date(Self.time))
        #expect(try await wait([("Retry-After", "\(Self.time + 86_400)000"), date]) == .seconds(86_400))
        #expect(try await wait([("Retry-After", "\(Self.time - 5)000"), date]) == .zero)
        #expect(try await wait([("Retry-After", "0"), date]) == .zero)
    }
}
