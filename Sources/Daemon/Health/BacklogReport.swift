import Domain
import Foundation

/// What waits in the store, in words: for the status line and for the health details.
struct BacklogReport {
    /// How long a notification in quarantine counts as a fault; after that it is history.
    private static let quarantineAlarm: TimeInterval = 24 * 3600

    let backlog: Backlog
    let now: Date
    /// How long before its deadline a case that nobody has answered is warned of for the last time; nil for never.
    let lastWarning: Duration?

    /// What the status line says of it, each piece behind a semicolon; empty when nothing waits.
    var status: String {
        var pieces: [String] = []
        if let hold = backlog.hold {
            let remedy = hold.isReleasable ? "`purser deliveries release`" : "`sending` in /healthz"
            pieces.append("SENDING IS HELD since \(time(hold.since)): see \(remedy)")
        }
        if let deadline = backlog.nearestDeadline {
            pieces.append("\(openCases), the next deadline \(until(deadline))")
        }
        if backlog.waitingDeliveries > 0 { pieces.append(deliveriesOnTheWay) }
        if isQuarantineRecent { pieces.append("\(quarantined) in quarantine") }
        return pieces.map { "; " + $0 }.joined()
    }

    /// What the health details say of it.
    var parts: [HealthReport.Part] { [sending, deliveries, cases, quarantine] }

    private var sending: HealthReport.Part {
        HealthReport.Part(
            name: "sending", isHealthy: backlog.hold == nil,
            detail: backlog.hold.map { "held since \(time($0.since)): \($0.reason)" } ?? "not held")
    }

    private var deliveries: HealthReport.Part {
        let oldest = backlog.oldestDelivery.map { ", the oldest for \(length(of: now.timeIntervalSince($0)))" } ?? ""
        return HealthReport.Part(name: "deliveries", isHealthy: true, detail: deliveriesOnTheWay + oldest)
    }

    private var cases: HealthReport.Part {
        guard let deadline = backlog.nearestDeadline else {
            return HealthReport.Part(name: "cases", isHealthy: true, detail: "none is open")
        }
        let isNear = lastWarning.map { deadline <= now + TimeInterval($0.components.seconds) } ?? false
        return HealthReport.Part(
            name: "cases", isHealthy: !isNear, detail: "\(openCases), the next deadline \(until(deadline))")
    }

    private var quarantine: HealthReport.Part {
        let latest = backlog.quarantined.latest.map { ", the latest of \(time($0))" } ?? ""
        return HealthReport.Part(name: "quarantine", isHealthy: !isQuarantineRecent, detail: quarantined + latest)
    }

    private var isQuarantineRecent: Bool {
        backlog.quarantined.latest.map { now.timeIntervalSince($0) < Self.quarantineAlarm } ?? false
    }

    private var openCases: String { count(backlog.openCases, "open case", "open cases") }
    private var deliveriesOnTheWay: String {
        count(backlog.waitingDeliveries, "delivery", "deliveries") + " on the way"
    }
    private var quarantined: String { count(backlog.quarantined.count, "notification", "notifications") }

    private func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }

    private func time(_ date: Date) -> String { date.formatted(.iso8601) }

    private func until(_ date: Date) -> String {
        let seconds = date.timeIntervalSince(now)
        return seconds > 0 ? "in \(length(of: seconds))" : "has passed"
    }

    /// Coarse, so that the status line does not change all the time.
    private func length(of seconds: TimeInterval) -> String {
        let minutes = Int(max(0, seconds) / 60)
        if minutes < 1 { return "less than a minute" }
        return minutes < 120 ? "\(minutes) min" : "\(minutes / 60) h"
    }
}
