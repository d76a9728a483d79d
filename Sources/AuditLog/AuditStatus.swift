import CoreMetrics
import Metrics

/// How the audit is, for health and metrics.
package struct AuditStatus: Sendable, Equatable {
    /// The last record that is on the disk; nil while the log cannot be opened.
    package var head: AuditHead?
    /// The segment that is written.
    package var segment: Int?
    /// Why records cannot be written; nil when they can.
    package var problem: String?
    /// Records of acts that have happened, and that the log has not taken yet.
    package var owed = 0
    /// How many of them, or of those before, have nowhere to be kept: their number will be recorded.
    package var lost = 0
    /// How the reserve stands; nil without one.
    package var reserve: Reserve?
    /// Why the reserve could not be written the last time; nil when it could.
    package var reserveProblem: String?
    /// Whether neither the log nor the reserve takes another record.
    package var isExhausted = false

    /// The file for records that the log cannot take, in bytes.
    package struct Reserve: Sendable, Equatable {
        package let capacity: Int
        package let used: Int
        /// Room for more records; 0 when there is none for another one.
        package let free: Int
    }
}

/// Counts records and shows how the audit stands.
struct AuditMeter: Sendable {
    private let records: Counter
    private let failures: Counter
    private let owed: Gauge
    private let reserve: Gauge

    init(factory: any MetricsFactory) {
        records = Counter(label: "purser_audit_records", dimensions: [], factory: factory)
        failures = Counter(label: "purser_audit_write_failures", dimensions: [], factory: factory)
        owed = Gauge(label: "purser_audit_records_owed", dimensions: [], factory: factory)
        reserve = Gauge(label: "purser_audit_reserve_free_bytes", dimensions: [], factory: factory)
    }

    func written(_ count: Int) { records.increment(by: count) }
    func failed() { failures.increment() }

    func show(_ status: AuditStatus) {
        owed.record(status.owed + status.lost)
        reserve.record(status.reserve?.free ?? 0)
    }
}
