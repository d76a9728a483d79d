import CoreMetrics
import Domain
import Synchronization
import Testing

@testable import AppStoreClient

/// Counting must cost next to nothing, so series are asked for once.
struct UpstreamMeterTests {
    @Test func `the metrics system is asked once for each series, however many calls are counted`() {
        let factory = CountingFactory()
        let meter = UpstreamMeter(factory: factory)
        for _ in 0..<100 {
            for app in ["coins", "gems"] {
                meter.count(
                    "Get Transaction Info", app: app, environment: .production, status: 200, duration: .milliseconds(3))
            }
            meter.countRetry("Get Transaction Info")
            meter.countVerification("verified")
        }
        meter.count("Get Transaction Info", app: "coins", environment: .production, status: nil, duration: .zero)
        #expect(
            factory.requests.sorted()
                == [
                    "counter purser_upstream_calls coins none", "counter purser_upstream_calls coins 200",
                    "counter purser_upstream_calls gems 200", "counter purser_upstream_retries",
                    "counter purser_verifications", "timer purser_upstream_call_duration_seconds",
                ].sorted())
        #expect(factory.count(of: "purser_upstream_calls coins 200") == 100)
        #expect(factory.count(of: "purser_verifications") == 100)
        #expect(factory.count(of: "purser_upstream_call_duration_seconds") == 201)
    }

    @Test func `so many counters are kept and no more, and no count is lost`() {
        let factory = CountingFactory()
        let counters = CounterSet<Int>("calls", factory: factory, maximumCounters: 3) { [("app", "\($0)")] }
        for _ in 0..<10 {
            for app in 0..<5 { counters.increment(app) }
        }
        for app in 0..<5 { #expect(factory.count(of: "calls \(app)") == 10) }
        #expect(factory.requests.count > 5, "some were let go of")
    }
}

/// A metrics system that notes what it is asked for.
final class CountingFactory: MetricsFactory {
    private struct State {
        var requests: [String] = []
        var counts: [String: Int64] = [:]
    }

    private final class Handler: CounterHandler, TimerHandler {
        let count: @Sendable (Int64) -> Void

        init(count: @escaping @Sendable (Int64) -> Void) { self.count = count }

        func increment(by amount: Int64) { count(amount) }
        func reset() {}
        func recordNanoseconds(_ duration: Int64) { count(1) }
    }

    private let state = Mutex(State())

    var requests: [String] { state.withLock(\.requests) }

    func count(of series: String) -> Int64 { state.withLock { $0.counts[series, default: 0] } }

    private func handler(_ kind: String, _ label: String, _ dimensions: [(String, String)]) -> Handler {
        let values = dimensions.filter { ["app", "status"].contains($0.0) }.map(\.1)
        let series = ([label] + values).joined(separator: " ")
        state.withLock { $0.requests.append("\(kind) \(series)") }
        return Handler { amount in self.state.withLock { $0.counts[series, default: 0] += amount } }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        handler("counter", label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        handler("timer", label, dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
}
