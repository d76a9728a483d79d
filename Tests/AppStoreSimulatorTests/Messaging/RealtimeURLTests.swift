import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JSON
import TestSupport
import Testing

/// Realtime URLs and their performance tests.
struct RealtimeURLTests {
    private static let path = "https://example.com/message"

    private func configure(
        _ fixture: SimulatorFixture, _ url: String, in environment: SimulatedEnvironment = .sandbox
    ) async throws -> CurlResponse {
        try await fixture.messaging(.configureRealtimeURL, in: environment, body: ["realtimeURL": .string(url)])
    }

    private func subscription(_ fixture: SimulatorFixture) throws -> String {
        let account = try fixture.state.createAccount(in: .sandbox)
        let purchase = try fixture.buy(by: account.id) {
            $0.type = .autoRenewableSubscription
            $0.productId = "gold"
        }
        return try #require(purchase.originalTransactionId)
    }

    /// Runs a test of a server to its end.
    private func test(
        _ fixture: SimulatorFixture, _ receiver: NotificationReceiver
    ) async throws -> PerformanceTestResultResponse {
        try fixture.expect(nil, await configure(fixture, receiver.url))
        let begun = try await fixture.answer(
            PerformanceTestResponse.self, Endpoint(.initiatePerformanceTest),
            body: ["originalTransactionId": .string(subscription(fixture))])
        let requestID = try #require(begun.requestId)
        @Sendable func result() async throws -> PerformanceTestResultResponse {
            try await fixture.answer(
                PerformanceTestResultResponse.self, Endpoint(.getPerformanceTestResults, [requestID]))
        }
        try await Wait.bounding("the end of a performance test") {
            try await fixture.state.wait(for: .realtimeURLAsked) { _ in try await result().result != .pending }
        }
        return try await result()
    }

    @Test func `a URL is configured, read and deleted`() async throws {
        try await SimulatorFixture.with { fixture in
            try fixture.expect(.realtimeURLNotFound, await fixture.messaging(.getRealtimeURL))
            try fixture.expect(nil, await configure(fixture, Self.path))
            let answer = try await fixture.answer(RealtimeURLResponse.self, Endpoint(.getRealtimeURL))
            #expect(answer.realtimeURL == Self.path)
            try fixture.expect(nil, await fixture.messaging(.deleteRealtimeURL))
            try fixture.expect(.realtimeURLNotFound, await fixture.messaging(.deleteRealtimeURL))
        }
    }

    @Test func `a URL must be short and encrypted`() async throws {
        try await SimulatorFixture.with { fixture in
            let bad = [
                "http://example.com/", "example.com", "", "https://example.com/" + String(repeating: "a", count: 237),
            ]
            for url in bad { try fixture.expect(.badRequestRealtimeURL, await configure(fixture, url)) }
            try fixture.expect(
                nil, await configure(fixture, "https://example.com/" + String(repeating: "a", count: 236)))
            try fixture.expect(
                .badRequestRealtimeURL, await fixture.messaging(.configureRealtimeURL, body: [:]))
        }
    }

    @Test func `production needs a test that was passed`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(200)) { receiver in
                try fixture.expect(.forbiddenNoPassingTest, await configure(fixture, Self.path, in: .production))
                let settings = try await fixture.control("PUT", "/messaging-settings", ["allowPlainRealtimeURLs": true])
                #expect(settings.status == 204)
                let result = try await test(fixture, receiver)
                // A machine that is busy may take longer than Apple allows.
                try #require(result.successRate == 100 || result.responseTimes?.p99 ?? 0 > 700)
                #expect(result.target == receiver.url && result.numPending == 0 && result.failures == [:])
                #expect(receiver.requests.count == 20)
                let body = try RealtimeRequestBody(parsing: try #require(receiver.requests.first).body)
                let payload = try RealtimeRequestPayload(parsing: fixture.verifiedPayload(body.signedPayload))
                #expect(payload.productId == "gold" && payload.environment == .sandbox)
                if result.result == .pass {
                    try fixture.expect(nil, await configure(fixture, Self.path, in: .production))
                }
            }
        }
    }

    @Test func `a server that fails does not pass`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.status(500)) { receiver in
                var settings = MessagingSettings()
                settings.allowsPlainRealtimeURLs = true
                fixture.state.messagingSettings = settings
                let result = try await test(fixture, receiver)
                #expect(result.result == .fail && result.successRate == 0)
                #expect(result.failures == [.unsuccessfulHTTPResponseCode: 20])
                try fixture.expect(.forbiddenNoPassingTest, await configure(fixture, Self.path, in: .production))
            }
        }
    }

    @Test func `each rule of a test has its error`() async throws {
        try await SimulatorFixture.with { fixture in
            try await NotificationReceiver.with(.silence) { receiver in
                let id = try subscription(fixture)
                func begin(_ body: JSONValue, in environment: SimulatedEnvironment = .sandbox) async throws
                    -> CurlResponse
                {
                    try await fixture.messaging(.initiatePerformanceTest, in: environment, body: body)
                }
                let good: JSONValue = ["originalTransactionId": .string(id)]
                try fixture.expect(.invalidPerformanceTestRequest, await begin(good))
                var settings = MessagingSettings()
                settings.allowsPlainRealtimeURLs = true
                fixture.state.messagingSettings = settings
                try fixture.expect(nil, await configure(fixture, receiver.url))
                try fixture.expect(.invalidPerformanceTestRequest, await begin([:]))
                try fixture.expect(.invalidPerformanceTestRequest, await begin(["originalTransactionId": "1"]))
                try fixture.expect(.invalidPerformanceTestRequest, await begin(good, in: .production))
                let begun = try await begin(good)
                #expect(begun.status == 200)
                try fixture.expect(.existingPerformanceTestRun, await begin(good))
                try fixture.expect(.invalidRequestId, await fixture.messaging(.getPerformanceTestResults, ["x"]))
                try fixture.expect(
                    .performanceTestRunNotFound,
                    await fixture.messaging(.getPerformanceTestResults, [SimulatorFixture.image]))
            }
        }
    }
}
