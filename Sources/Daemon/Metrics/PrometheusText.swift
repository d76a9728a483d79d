import Foundation
import HTTPAPI

/// Writes metrics as text: Prometheus' format, version 0.0.4, or OpenMetrics 1.0.0.
///
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/,
/// https://prometheus.io/docs/specs/om/open_metrics_spec/
struct PrometheusText {
    private(set) var text = ""
    private let format: MetricsFormat

    init(_ format: MetricsFormat = .prometheus) { self.format = format }

    /// Renders dimensions as `name="value",…`, sorted by name, so that equal sets are equal texts.
    ///
    /// A name occurs once; `le` belongs to the buckets of histograms. One that is taken gets underscores at its end.
    static func dimensions(_ dimensions: [(String, String)]) -> String {
        var taken: Set = ["le"]
        return dimensions.sorted { $0 < $1 }.map { label, value in
            var name = sanitized(label)
            while !taken.insert(name).inserted { name += "_" }
            return "\(name)=\"\(escaped(value).replacing("\"", with: "\\\""))\""
        }.joined(separator: ",")
    }

    /// The name that a metric has in front of Prometheus; that of a counter ends with `_total`.
    static func name(_ label: String, of type: MetricType) -> String {
        let name = sanitized(label)
        return type != .counter || name.hasSuffix("_total") ? name : name + "_total"
    }

    /// Writes one metric: its head, then its series in a stable order.
    mutating func write(name: String, type: MetricType, help: String?, _ series: [String: any Series]) {
        header(name, type, help)
        for (dimensions, series) in series.sorted(by: { $0.key < $1.key }) {
            switch series {
            case let counter as CounterSeries: line(name, dimensions, counter.value)
            case let gauge as GaugeSeries: line(name, dimensions, gauge.value)
            case let histogram as HistogramSeries: write(name, dimensions, histogram.snapshot)
            default: break
            }
        }
    }

    /// Writes a metric by its values: dimensions as ``dimensions(_:)`` renders them, each set once.
    mutating func write(name: String, type: MetricType, help: String?, _ values: [String: Double]) {
        header(name, type, help)
        for (dimensions, value) in values.sorted(by: { $0.key < $1.key }) { line(name, dimensions, value) }
    }

    private mutating func write(_ name: String, _ dimensions: String, _ snapshot: HistogramSeries.Snapshot) {
        var cumulative: UInt64 = 0
        let separator = dimensions.isEmpty ? "" : ","
        for (bound, count) in zip(HistogramSeries.bounds + [.infinity], snapshot.counts) {
            cumulative += count
            line(name + "_bucket", "\(dimensions)\(separator)le=\"\(self.bound(bound))\"", Double(cumulative))
        }
        line(name + "_sum", dimensions, snapshot.sum)
        line(name + "_count", dimensions, Double(cumulative))
    }

    private mutating func header(_ name: String, _ type: MetricType, _ help: String?) {
        // A counter of OpenMetrics has its suffix at its samples, not in its name.
        let suffix = "_total"
        let isBare = format == .openMetrics && type == .counter && name.hasSuffix(suffix)
        let name = isBare ? String(name.dropLast(suffix.count)) : name
        if let help {
            let text = Self.escaped(help)
            self.text += "# HELP \(name) \(format == .openMetrics ? text.replacing("\"", with: "\\\"") : text)\n"
        }
        text += "# TYPE \(name) \(type.rawValue)\n"
    }

    /// A bound as the value of a dimension: OpenMetrics writes it as a float always, so that it is the same text everywhere.
    private func bound(_ value: Double) -> String {
        format == .openMetrics && value.isFinite ? String(value) : Self.number(value)
    }

    private mutating func line(_ name: String, _ dimensions: String, _ value: Double) {
        text += dimensions.isEmpty ? name : "\(name){\(dimensions)}"
        text += " \(Self.number(value))\n"
    }

    /// Letters, digits and underscores, not a digit first and not nothing.
    private static func sanitized(_ label: String) -> String {
        let name = String(
            label.unicodeScalars.map { $0.isASCII && $0.properties.isAlphabetic || isDigit($0) ? Character($0) : "_" })
        guard let first = label.unicodeScalars.first, !isDigit(first) else { return "_" + name }
        return name
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
