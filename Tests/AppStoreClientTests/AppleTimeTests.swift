import AppStoreAPI
import Domain
import Foundation
import Logging
import TestSupport
import Testing

@testable import AppStoreClient

/// What time it is, by the `Date` of Apple's answers.
struct AppleTimeTests {
    private static let wrong: TimeInterval = 46_800
    private static let date = ("Date", "Tue, 14 Nov 2023 22:13:20 GMT")

    /// A client whose clock is 13 hours ahead, and in doubt; after one call.
    private func steady(
        _ answer: LoopbackServer.Response, _ operation: Endpoint.Operation = .getTransactionInfo
    ) async throws -> SteadyClock {
        var parts = UpstreamFixture.Dependencies()
        let clock = parts.clock
        let steady = SteadyClock(
            wall: { clock.service.now().addingTimeInterval(Self.wrong) }, monotonicNow: { clock.instant },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        parts.steady = steady
        try await UpstreamFixture.run(
            parts, handler: { _ in answer }, during: { _ = await $0.make(operation) })
        return steady
    }

    @Test(arguments: [
        LoopbackServer.Response(headers: [date], "{}"),
        .init(status: 404, headers: [date], #"{"errorCode":4040010,"errorMessage":"Not found."}"#),
        .init(status: 401, headers: [date]),
        .init(status: 500, headers: [date], #"{"errorCode":5000001,"errorMessage":"Again."}"#),
    ])
    func `any answer of Apple's decides`(answer: LoopbackServer.Response) async throws {
        let steady = try await steady(answer)
        #expect(steady.isCertain && steady.now == TestClock.date && steady.standing.machineLead == Self.wrong)
    }

    @Test func `so does the acceptance of a consumption answer`() async throws {
        #expect(try await steady(.init(status: 202, headers: [Self.date]), .sendConsumptionInformation).isCertain)
    }

    @Test(arguments: [
        LoopbackServer.Response(status: 403, headers: [date], "<html>no</html>"),
        .init(headers: [date], "<html>Log in</html>"), .init(status: 502, headers: [date], "Bad Gateway"),
        .init(status: 302, headers: [date]), .init(headers: [date, ("Age", "3600")], "{}"),
        .init(headers: [("Date", "yesterday")], "{}"),
    ])
    func `the time of a machine in between does not, nor that of an answer that was kept`(
        answer: LoopbackServer.Response
    ) async throws {
        #expect(try await !steady(answer).isCertain)
    }
}
