import CoreMetrics
import Metrics
import Testing

@testable import Daemon

struct MetricsRegistryTests {
    private let registry = PrometheusRegistry(help: [:], process: .none)

    /// The lines that are no comments.
    private func lines(of registry: PrometheusRegistry) -> [String] {
        registry.render().split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    @Test func `the same label and dimensions, in whatever order, are one series`() {
        let first = registry.makeCounter(label: "hits", dimensions: [("app", "coins"), ("status", "200")])
        let second = registry.makeCounter(label: "hits", dimensions: [("status", "200"), ("app", "coins")])
        let other = registry.makeCounter(label: "hits", dimensions: [("app", "coins"), ("status", "404")])
        #expect(first === second)
        #expect(first !== other)
        Counter(label: "hits", dimensions: [("app", "coins"), ("status", "200")], factory: registry).increment()
        first.increment(by: 2)
        #expect(
            lines(of: registry) == [
                #"hits_total{app="coins",status="200"} 3"#, #"hits_total{app="coins",status="404"} 0"#,
            ])
    }

    @Test func `no increment is lost among many tasks`() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { [registry] in
                    for _ in 0..<1000 {
                        Counter(label: "hits", factory: registry).increment()
                        FloatingPointCounter(label: "work", factory: registry).increment(by: 0.5)
                        Metrics.Timer(label: "time", factory: registry).recordSeconds(1)
                        Meter(label: "load", factory: registry).increment(by: 1)
                    }
                }
            }
        }
        let lines = lines(of: registry)
        #expect(lines.contains("hits_total 50000"))
        #expect(lines.contains("work_total 25000"))
        #expect(lines.contains("time_count 50000"))
        #expect(lines.contains("time_sum 50000"))
        #expect(lines.contains("load 50000"))
    }

    @Test func `a counter never falls`() {
        let counter = Counter(label: "hits", factory: registry)
        counter.increment(by: 5)
        counter.increment(by: -3)
        let work = FloatingPointCounter(label: "hits", factory: registry)
        for amount in [0.25, -1, .nan, .infinity] { work.increment(by: amount) }
        #expect(lines(of: registry) == ["hits_total 5.25"])
        counter.reset()
        #expect(lines(of: registry) == ["hits_total 0"])
    }

    @Test func `gauges and meters show their last value`() {
        let gauge = Gauge(label: "keys", factory: registry)
        gauge.record(7)
        gauge.record(2.5)
        let meter = Meter(label: "connections", factory: registry)
        meter.set(10)
        meter.increment(by: 2)
        meter.decrement()
        #expect(lines(of: registry) == ["connections 11", "keys 2.5"])
    }

    @Test func `timers and recorders fall into buckets, a bound included`() {
        let timer = Metrics.Timer(label: "time", factory: registry)
        timer.recordMilliseconds(1)
        timer.recordMilliseconds(20)
        timer.recordSeconds(30)
        timer.recordSeconds(60)
        let recorder = Recorder(label: "time", factory: registry)
        recorder.record(0.02)
        recorder.record(Double.nan)
        let buckets = [1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 5]
        let bounds = HistogramSeries.bounds.map { $0 < 1 || $0 == 2.5 ? "\($0)" : "\(Int($0))" } + ["+Inf"]
        let expected = zip(bounds, buckets).map { "time_bucket{le=\"\($0)\"} \($1)" }
        #expect(lines(of: registry) == expected + ["time_sum 90.041", "time_count 5"])
    }

    @Test func `beyond the bound of series everything is counted in one`() {
        let registry = PrometheusRegistry(help: [:], process: .none, maximumSeriesPerMetric: 3)
        for number in 0..<10 {
            Counter(label: "hits", dimensions: [("user", "\(number)")], factory: registry).increment()
            Counter(label: "others", dimensions: [("user", "0")], factory: registry).increment()
        }
        Counter(label: "hits", dimensions: [("user", "1")], factory: registry).increment()
        #expect(
            lines(of: registry) == [
                #"hits_total{overflow="true"} 7"#, #"hits_total{user="0"} 1"#, #"hits_total{user="1"} 2"#,
                #"hits_total{user="2"} 1"#, #"others_total{user="0"} 10"#,
            ])
    }

    @Test func `a name has one type, whoever comes second stands apart`() {
        Counter(label: "size.total", factory: registry).increment()
        Counter(label: "size", factory: registry).increment()
        Gauge(label: "size_total", factory: registry).record(4)
        Recorder(label: "size_total", factory: registry).record(1)
        let types = registry.render().split(separator: "\n").filter { $0.hasPrefix("# TYPE") }
        #expect(
            types == [
                "# TYPE size_total counter", "# TYPE size_total_gauge gauge", "# TYPE size_total_histogram histogram",
            ])
        #expect(lines(of: registry).prefix(2) == ["size_total 2", "size_total_gauge 4"])
    }

    @Test func `a handle that is given up keeps its count`() {
        let counter = Counter(label: "hits", factory: registry)
        counter.increment()
        counter.destroy()
        Counter(label: "hits", factory: registry).increment()
        #expect(lines(of: registry) == ["hits_total 2"])
    }
}

extension ProcessMetrics {
    /// Says nothing.
    static var none: ProcessMetrics { ProcessMetrics(folder: "/nonexistent", bootTime: 0) }
}
