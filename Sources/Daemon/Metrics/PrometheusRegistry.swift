package import CoreMetrics
import Synchronization

/// Holds every metric of the process and renders them for Prometheus.
///
/// It is passed to those who count, never installed globally. Handlers are made once for each label and set of dimensions;
/// counting is one atomic addition. The number of series is bounded: what exceeds the bound is counted in one series with
/// the dimension `overflow="true"`.
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
package final class PrometheusRegistry: MetricsFactory {
    /// The most series of one metric.
    static let maximumSeriesPerMetric = 10_000

    /// A metric with its series, by their rendered dimensions.
    struct Family {
        var counters: [String: CounterSeries] = [:]
        var gauges: [String: GaugeSeries] = [:]
        var histograms: [String: HistogramSeries] = [:]
    }

    private let help: [String: String]
    private let process: ProcessMetrics
    private let families = Mutex<[String: Family]>([:])

    /// `help`: what each metric means, by label.
    package init(help: [String: String], process: ProcessMetrics = ProcessMetrics()) {
        self.help = help
        self.process = process
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, \.counters, CounterSeries.init)
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        aggregate
            ? series(label, dimensions, \.histograms, HistogramSeries.init)
            : series(label, dimensions, \.gauges, GaugeSeries.init)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, \.histograms, HistogramSeries.init)
    }

    // Series live as long as the process: a counter that vanished and came back would look like a restart.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// All metrics in the text format, version 0.0.4, in a stable order.
    package func render() -> String {
        var text = PrometheusText()
        let families = families.withLock { $0 }
        for (label, family) in families.sorted(by: { $0.key < $1.key }) {
            text.write(label: label, help: help[label], family)
        }
        process.write(to: &text)
        return text.text
    }

    private func series<Series: Sendable>(
        _ label: String, _ dimensions: [(String, String)], _ kind: WritableKeyPath<Family, [String: Series]>,
        _ make: () -> Series
    ) -> Series {
        let key = PrometheusText.dimensions(dimensions)
        return families.withLock { families in
            if let existing = families[label]?[keyPath: kind][key] { return existing }
            let isFull = (families[label]?[keyPath: kind].count ?? 0) >= Self.maximumSeriesPerMetric
            let admitted = isFull ? PrometheusText.dimensions([("overflow", "true")]) : key
            if let existing = families[label]?[keyPath: kind][admitted] { return existing }
            let series = make()
            families[label, default: Family()][keyPath: kind][admitted] = series
            return series
        }
    }
}
