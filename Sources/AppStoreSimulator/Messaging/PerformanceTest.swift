import AppStoreAPI
import Foundation
import Logging
import OpenSSL

/// A test of an app's realtime URL.
struct PerformanceTest: Sendable {
    /// One request and its answer.
    struct Sample: Sendable {
        let result: SendAttemptResult
        let milliseconds: Int64
    }

    /// How much and how fast Apple asks is not published, but for the time that an answer may take in the sandbox.
    static let config = PerformanceTestConfig {
        $0.maxConcurrentRequests = 4
        $0.totalRequests = 20
        $0.totalDuration = 5000
        $0.responseTimeThreshold = 700
        $0.successRateThreshold = 95
    }

    /// A UUID in lower case.
    let requestID: String
    let app: RegisteredApp
    /// The URL under test.
    let target: String
    let transaction: TransactionPayload
    /// Whether somebody works on it.
    var isUnderWay = false
    var samples: [Sample] = []

    /// How many requests there will be.
    static var total: Int { Int(config.totalRequests ?? 0) }

    var status: PerformanceTestStatus {
        if samples.count < Self.total { return .pending }
        return successRate >= Self.config.successRateThreshold ?? 0 ? .pass : .fail
    }

    /// Per cent of all answers so far that were good and in time.
    private var successRate: Int32 {
        guard !samples.isEmpty else { return 0 }
        let threshold = Self.config.responseTimeThreshold ?? 0
        let good = samples.count { $0.result == .success && $0.milliseconds <= threshold }
        return Int32(good * 100 / samples.count)
    }

    /// The answer of Get Performance Test Results.
    var response: PerformanceTestResultResponse {
        let times = samples.map(\.milliseconds).sorted()
        func percentile(_ percent: Int) -> Int64 {
            times.isEmpty ? 0 : times[min(times.count - 1, times.count * percent / 100)]
        }
        let failures = samples.filter { $0.result != .success }
        return PerformanceTestResultResponse {
            $0.config = Self.config
            $0.target = target
            $0.result = status
            $0.successRate = successRate
            $0.numPending = Int32(Self.total - samples.count)
            $0.responseTimes = PerformanceTestResponseTimes {
                $0.average = times.isEmpty ? 0 : times.reduce(0, +) / Int64(times.count)
                $0.p50 = percentile(50)
                $0.p90 = percentile(90)
                $0.p95 = percentile(95)
                $0.p99 = percentile(99)
            }
            $0.failures = Dictionary(grouping: failures, by: \.result).mapValues { Int32($0.count) }
        }
    }
}

/// Asks an app's realtime URL as often as a performance test demands, in real time.
struct PerformanceTestRunner: Sendable {
    let state: SimulatorState
    let authority: SigningAuthority
    let sender: NotificationSender
    let logger: Logger

    func run(_ test: PerformanceTest) async {
        guard let url = NotificationURL(test.target) else { return }
        let authorities = state.withContent { $0.messaging.settings.certificateAuthorities }
        let address = NotificationAddress(url: url, certificateAuthorities: authorities)
        await withDiscardingTaskGroup { group in
            for appEnvironment in 0..<Self.appEnvironments {
                group.addTask {
                    for _ in stride(from: appEnvironment, to: PerformanceTest.total, by: Self.appEnvironments) {
                        await ask(address, test)
                    }
                }
            }
        }
    }

    private static var appEnvironments: Int { Int(PerformanceTest.config.maxConcurrentRequests ?? 1) }

    private func ask(_ address: NotificationAddress, _ test: PerformanceTest) async {
        var result = SendAttemptResult.other
        let clock = ContinuousClock()
        let start = clock.now
        do throws(OpenSSLError) {
            let body = try requestBody(test)
            let timeout = state.withContent { $0.outbox.timeout }
            result = await sender.post(body, to: address, timeout: timeout)
        } catch {
            logger.error("realtime request cannot be signed", metadata: ["error": "\(error)"])
        }
        let sample = PerformanceTest.Sample(
            result: result, milliseconds: Int64(start.duration(to: clock.now) / .milliseconds(1)))
        state.withContent { $0.messaging.record(sample, of: test.requestID) }
        state.observers.notify(.realtimeURLAsked)
    }

    private func requestBody(_ test: PerformanceTest) throws(OpenSSLError) -> [UInt8] {
        var payload = RealtimeRequestPayload()
        payload.originalTransactionId = test.transaction.originalTransactionId
        payload.appAppleId = test.app.appAppleID
        payload.productId = test.transaction.productId
        payload.userLocale = "en-US"
        payload.requestIdentifier = state.withContent { $0.outbox.uuid() }
        payload.signedDate = state.milliseconds
        payload.environment = .sandbox
        var body = RealtimeRequestBody()
        body.signedPayload = try authority.sign(payload.serialized())
        return body.serialized()
    }
}
