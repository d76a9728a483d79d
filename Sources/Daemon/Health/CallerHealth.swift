import CoreMetrics
import Domain
import Metrics

/// Which callers need a look, in words for the health details and as metrics.
struct CallerHealth: Sendable {
    /// How many names the health details tell; the list of callers tells all.
    private static let maximumNames = 5

    private let report: CallerReport
    private let counts: [(source: CallerListing.Source, gauge: Gauge)]
    private let expiring: Gauge
    private let unused: Gauge

    init(_ report: CallerReport, metrics: any MetricsFactory) {
        self.report = report
        counts = [.configuration, .store].map { source in
            (source, Gauge(label: "purser_callers", dimensions: [("source", source.rawValue)], factory: metrics))
        }
        expiring = Gauge(label: "purser_callers_expiring", dimensions: [], factory: metrics)
        unused = Gauge(label: "purser_callers_unused", dimensions: [], factory: metrics)
    }

    /// Sets the gauges.
    func show() {
        let findings = report.look()
        for (source, gauge) in counts { gauge.record(findings.counts[source] ?? 0) }
        expiring.record(findings.expiring.count)
        unused.record(findings.unused.count)
    }

    /// What the health details say; a caller that will soon have no token left is not healthy.
    var part: HealthReport.Part {
        let findings = report.look()
        let count = findings.counts.values.reduce(0, +)
        let pieces = [
            count == 1 ? "1 caller" : "\(count) callers", Self.piece("the last token ends soon of", findings.expiring),
            Self.piece("long unused:", findings.unused), Self.piece("of no use as configured:", findings.orphaned),
        ]
        return HealthReport.Part(
            name: "callers", isHealthy: findings.expiring.isEmpty,
            detail: pieces.compactMap(\.self).joined(separator: "; "))
    }

    private static func piece(_ words: String, _ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let more = names.count > maximumNames ? " and \(names.count - maximumNames) more" : ""
        return "\(words) \(names.prefix(maximumNames).joined(separator: ", "))\(more)"
    }
}
