/// Writes the Prometheus text format.
struct PrometheusText {
    private(set) var text = ""

    /// Renders dimensions as `name="value",…`, sorted by name, so that equal sets are equal texts.
    static func dimensions(_ dimensions: [(String, String)]) -> String {
        dimensions.sorted { $0.0 < $1.0 }.map { "\(name($0.0))=\"\(escape($0.1))\"" }.joined(separator: ",")
    }

    mutating func write(label: String, help: String?, _ family: PrometheusRegistry.Family) {
        let base = Self.name(label)
        if !family.counters.isEmpty {
            let name = base.hasSuffix("_total") ? base : base + "_total"
            header(name, "counter", help)
            for (dimensions, series) in family.counters.sorted(by: { $0.key < $1.key }) {
                line(name, dimensions, String(series.value))
            }
        }
        if !family.gauges.isEmpty {
            header(base, "gauge", help)
            for (dimensions, series) in family.gauges.sorted(by: { $0.key < $1.key }) {
                line(base, dimensions, Self.number(series.value))
            }
        }
        if !family.histograms.isEmpty {
            header(base, "histogram", help)
            for (dimensions, series) in family.histograms.sorted(by: { $0.key < $1.key }) {
                write(base, dimensions, series.snapshot)
            }
        }
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Double, type: String = "gauge") {
        header(name, type, help)
        line(name, "", Self.number(value))
    }

    private mutating func write(_ name: String, _ dimensions: String, _ snapshot: HistogramSeries.Snapshot) {
        var cumulative: UInt64 = 0
        let separator = dimensions.isEmpty ? "" : ","
        for (index, count) in snapshot.counts.enumerated() {
            cumulative += count
            let bound = index < HistogramSeries.bounds.count ? Self.number(HistogramSeries.bounds[index]) : "+Inf"
            line(name + "_bucket", "\(dimensions)\(separator)le=\"\(bound)\"", String(cumulative))
        }
        line(name + "_sum", dimensions, Self.number(snapshot.sum))
        line(name + "_count", dimensions, String(cumulative))
    }

    private mutating func header(_ name: String, _ type: String, _ help: String?) {
        if let help {
            let escaped = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
            text += "# HELP \(name) \(escaped)\n"
        }
        text += "# TYPE \(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ dimensions: String, _ value: String) {
        text += dimensions.isEmpty ? "\(name) \(value)\n" : "\(name){\(dimensions)} \(value)\n"
    }

    /// Letters, digits and underscores, not a digit first.
    static func name(_ text: String) -> String {
        let name = String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return name.first?.isNumber == true ? "_" + name : name
    }

    private static func escape(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
