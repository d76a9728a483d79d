package import CoreMetrics
package import HTTPAPI
import Synchronization

/// Holds every metric of the process and renders them for Prometheus.
///
/// It is passed to those who count, never installed globally. Handlers are made once for each label and set of dimensions;
/// counting is one atomic addition. The number of series is bounded: what exceeds the bound is counted in one series with
/// the dimension `overflow="true"`.
///
/// What is known elsewhere at any time is not counted but asked for at each scrape: ``observe(_:read:)``.
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
package final class PrometheusRegistry: MetricsFactory {
    /// A metric with its series, by their rendered dimensions.
    private struct Family {
        let type: MetricType
        let label: String
        var series: [String: any Series] = [:]
    }

    /// The gauges of a label that are asked for: the values at this moment, by their dimensions.
    package typealias Reading = @Sendable () -> [(dimensions: [(String, String)], value: Double)]

    private let help: [String: String]
    private let process: ProcessMetrics
    private let maximumSeriesPerMetric: Int
    /// By the name that Prometheus sees, which has one type.
    private let families = Mutex<[String: Family]>([:])
    /// By label.
    private let readings = Mutex<[String: Reading]>([:])

    /// Makes an empty registry.
    ///
    /// - Parameters:
    ///   - help: what each metric means, by label.
    ///   - process: what to tell of the process itself.
    ///   - maximumSeriesPerMetric: how many sets of dimensions one metric may have.
    package init(
        help: [String: String], process: ProcessMetrics = ProcessMetrics(), maximumSeriesPerMetric: Int = 10_000
    ) {
        self.help = help
        self.process = process
        self.maximumSeriesPerMetric = maximumSeriesPerMetric
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions) as CounterSeries
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions) as CounterSeries
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions) as GaugeSeries
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate ? series(label, dimensions) as HistogramSeries : series(label, dimensions) as GaugeSeries
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions) as HistogramSeries
    }

    // Series live as long as the process: a counter that vanished and came back would look like a restart.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// Shows as gauges what `read` says at each scrape.
    ///
    /// - Parameters:
    ///   - label: the metric's, which nothing else may have; a later call takes the place of an earlier one.
    ///   - read: quick, and never waits. What exceeds the bound of series is left out.
    package func observe(_ label: String, read: @escaping Reading) {
        readings.withLock { $0[label] = read }
    }

    /// All metrics, by name in ascending order.
    package func render(_ format: MetricsFormat = .prometheus) -> String {
        let families = families.withLock { $0 }
        let counted = families.map { name, family in
            var text = PrometheusText(format)
            text.write(name: name, type: family.type, help: help[family.label], family.series)
            return (name: name, text: text.text)
        }
        let read = readings.withLock { $0 }.map { label, read in
            let values = read().prefix(maximumSeriesPerMetric).map {
                (PrometheusText.dimensions($0.dimensions), $0.value)
            }
            var text = PrometheusText(format)
            let name = PrometheusText.name(label, of: .gauge)
            text.write(name: name, type: .gauge, help: help[label], Dictionary(values) { first, _ in first })
            return (name: name, text: text.text)
        }
        let blocks = counted + read + process.samples(format).map { (name: $0.name, text: $0.text) }
        let end = format == .openMetrics ? "# EOF\n" : ""
        return blocks.sorted { $0.name < $1.name }.map(\.text).joined() + end
    }

    private func series<Wanted: Series>(_ label: String, _ dimensions: [(String, String)]) -> Wanted {
        let key = PrometheusText.dimensions(dimensions)
        return families.withLock { families in
            var name = PrometheusText.name(label, of: Wanted.type)
            // Two labels can come to one name, but a name has one type: the later type stands apart.
            while let family = families[name], family.type != Wanted.type { name += "_" + Wanted.type.rawValue }
            // No copy of a family is held here: the next line that adds to it would copy all of its series.
            if let existing = families[name]?.series[key] as? Wanted { return existing }
            let isFull = (families[name]?.series.count ?? 0) >= maximumSeriesPerMetric
            let admitted = isFull ? PrometheusText.dimensions([("overflow", "true")]) : key
            if let existing = families[name]?.series[admitted] as? Wanted { return existing }
            let series = Wanted()
            families[name, default: Family(type: Wanted.type, label: label)].series[admitted] = series
            return series
        }
    }
}

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

/// A floating-point number that several threads set and add to without a lock.
struct AtomicDouble: ~Copyable, Sendable {
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func add(_ amount: Double) {
        var current = bits.load(ordering: .relaxed)
        while true {
            let sum = Double(bitPattern: current) + amount
            let (exchanged, original) = bits.weakCompareExchange(
                expected: current, desired: sum.bitPattern, ordering: .relaxed)
            if exchanged { return }
            current = original
        }
    }
}
