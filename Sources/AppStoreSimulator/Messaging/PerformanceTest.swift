import AppStoreAPI

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
