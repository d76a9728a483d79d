import CoreMetrics
import HTTPAPI
import Metrics
import Synchronization
import Systemd
import Testing

@testable import Daemon

struct MetricsOpenMetricsTests {
    @Test func `OpenMetrics has a counter's suffix at its samples alone, floats as bounds, and an end`() {
        let registry = PrometheusRegistry(help: ["hits": "How \"often\"."], process: .none)
        Counter(label: "hits", dimensions: [("app", "coins")], factory: registry).increment()
        Metrics.Timer(label: "time", factory: registry).recordSeconds(1)
        let lines = registry.render(.openMetrics).split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(3) == [
                #"# HELP hits How \"often\"."#, "# TYPE hits counter", #"hits_total{app="coins"} 1"#,
            ])
        #expect(lines.contains(#"time_bucket{le="1.0"} 1"#) && lines.contains(#"time_bucket{le="+Inf"} 1"#))
        #expect(lines.last == "# EOF")
        #expect(!registry.render().contains("EOF"))
    }

    @Test func `what is observed is asked for at each scrape, each set of dimensions once`() {
        let registry = PrometheusRegistry(help: ["age": "Age."], process: .none, maximumSeriesPerMetric: 2)
        let age = Mutex(1.0)
        registry.observe("age") {
            let value = age.withLock { $0 }
            return [([("part", "a")], value), ([("part", "a")], 9), ([("part", "b")], 2)]
        }
        #expect(registry.render() == "# HELP age Age.\n# TYPE age gauge\nage{part=\"a\"} 1\n")
        age.withLock { $0 = 3 }
        #expect(registry.render().contains("age{part=\"a\"} 3\n"))
    }

    @Test func `a heartbeat's age counts from the start, and then from the last one`() async {
        let now = Mutex(ContinuousClock.now)
        let times = HeartbeatTimes { now.withLock { $0 } }
        let heartbeat = times.noting(Heartbeat(name: "curl thread") {})
        now.withLock { $0 += .seconds(5) }
        #expect(times.ages == ["curl thread": 5])
        await heartbeat.beat()
        #expect(times.ages == ["curl thread": 0])
        now.withLock { $0 += .milliseconds(1500) }
        #expect(times.ages == ["curl thread": 1.5])
    }
}
