import Domain
import Metrics

/// How far the time of day can be relied upon: for the status line, the health details and the metrics.
struct ClockReport: Sendable {
    private let steady: SteadyClock
    private let isInDoubt: Gauge
    private let machineLead: Gauge

    init(_ steady: SteadyClock, metrics: any MetricsFactory) {
        self.steady = steady
        isInDoubt = Gauge(label: "purser_clock_in_doubt", dimensions: [], factory: metrics)
        machineLead = Gauge(label: "purser_clock_machine_ahead_seconds", dimensions: [], factory: metrics)
    }

    /// Sets the gauges.
    func show() {
        let standing = steady.standing
        isInDoubt.record(standing.isCertain ? 0 : 1)
        machineLead.record(standing.machineLead)
    }

    /// What the status line says of it; nothing when all is well.
    var status: String {
        let standing = steady.standing
        guard standing.isCertain else { return "; THE TIME IS IN DOUBT: nothing is sent until Apple tells it" }
        return standing.isMachineRight ? "" : "; the machine's clock is wrong"
    }

    /// What the health details say of it.
    var part: HealthReport.Part {
        let standing = steady.standing
        let seconds = Int(standing.machineLead.magnitude.rounded())
        let detail =
            if !standing.isCertain {
                "in doubt: nothing is sent or ends by a deadline until Apple answers and tells the time"
            } else if standing.isMachineRight {
                "the machine's clock agrees with Apple's"
            } else {
                "the machine's clock is \(seconds) s \(standing.machineLead > 0 ? "ahead of" : "behind") Apple's; we go by Apple's"
            }
        return HealthReport.Part(
            name: "clock", isHealthy: standing.isCertain && standing.isMachineRight, detail: detail)
    }
}
