import Foundation

/// The limits that an attack must not exceed for `make flood` to succeed.
struct FloodBounds: Sendable {
    /// The longest time that an honest client waits.
    ///
    /// A request that takes longer fails, and none may fail.
    var patience = Duration.seconds(5)
    /// The longest time from SIGTERM to the end of the daemon, after the attackers have left.
    var end = Duration.seconds(10)
    /// The largest growth of anonymous memory during the attack; nil for no limit.
    var peakKilobytes: Int?
    /// The largest growth of anonymous memory from before the attack to after it; nil for no limit.
    var growthKilobytes: Int?

    /// The limits that a result exceeds, as text.
    func violations(in result: FloodResult) -> [String] {
        var violations: [String] = []
        if !result.beside.failures.isEmpty {
            violations.append("\(result.beside.failures.count) of \(result.beside.count) honest requests failed")
        }
        if result.beside.count == 0 { violations.append("no honest request was made") }
        if result.end > end { violations.append("the daemon took \(result.end) to end") }
        let peak = result.peak.anonymousKilobytes - result.before.anonymousKilobytes
        if let peakKilobytes, peak > peakKilobytes { violations.append("memory grew by \(peak) KB during the attack") }
        let growth = result.after.anonymousKilobytes - result.before.anonymousKilobytes
        if let growthKilobytes, growth > growthKilobytes {
            violations.append("memory is \(growth) KB larger after the attack")
        }
        return violations
    }
}
