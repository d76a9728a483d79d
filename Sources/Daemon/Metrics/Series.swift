import CoreMetrics
import Synchronization

/// The types of metrics, as Prometheus calls them.
enum MetricType: String {
    case counter
    case gauge
    case histogram
}

/// One metric with one set of dimensions; the same object for all who ask for it.
protocol Series: AnyObject, Sendable {
    static var type: MetricType { get }
    init()
}

/// A count that only rises.
final class CounterSeries: Series, CounterHandler, FloatingPointCounterHandler {
    static let type = MetricType.counter

    private let whole = Atomic<Int64>(0)
    private let fraction = AtomicDouble()

    var value: Double { Double(whole.load(ordering: .relaxed)) + fraction.value }

    /// What is not positive is left out: a count that falls would look like a restart.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        whole.wrappingAdd(amount, ordering: .relaxed)
    }

    /// What is not positive and finite is left out, as above.
    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        fraction.add(amount)
    }

    func reset() {
        whole.store(0, ordering: .relaxed)
        fraction.set(0)
    }
}

/// A value that goes up and down.
final class GaugeSeries: Series, RecorderHandler, MeterHandler {
    static let type = MetricType.gauge

    private let number = AtomicDouble()

    var value: Double { number.value }

    func record(_ value: Int64) { number.set(Double(value)) }
    func record(_ value: Double) { number.set(value) }
    func set(_ value: Int64) { number.set(Double(value)) }
    func set(_ value: Double) { number.set(value) }
    func increment(by amount: Double) { number.add(amount) }
    func decrement(by amount: Double) { number.add(-amount) }
}

/// A distribution, of durations in seconds above all, in fixed buckets.
final class HistogramSeries: Series, TimerHandler, RecorderHandler {
    static let type = MetricType.histogram

    /// Upper bounds, inclusive, in seconds.
    static let bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    struct Snapshot {
        /// How many values fell into each bucket, the last one without a bound.
        var counts = [UInt64](repeating: 0, count: HistogramSeries.bounds.count + 1)
        var sum = 0.0
    }

    // Counts and sum must fit each other, so they change together.
    private let state = Mutex(Snapshot())

    var snapshot: Snapshot { state.withLock { $0 } }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
    func record(_ value: Int64) { record(Double(value)) }

    /// What is no number is left out: it would spoil the sum for ever.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        let index = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
        state.withLock { state in
            state.counts[index] += 1
            state.sum += value
        }
    }
}
