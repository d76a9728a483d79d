import Domain
import Foundation
import Testing

@testable import Daemon

/// What waits, in the words of the status line and of the health details.
struct BacklogReportTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func report(_ backlog: Backlog, lastWarning: Duration? = .seconds(3600)) -> BacklogReport {
        BacklogReport(backlog: backlog, now: now, lastWarning: lastWarning)
    }

    private func cases(_ open: Int, deadlineIn seconds: TimeInterval) -> Backlog {
        Backlog(cases: [
            CaseBacklog(app: "coins", environment: .production, open: open, nearestDeadline: now + seconds)
        ])
    }

    @Test func `nothing that waits is nothing to tell, and all is well`() {
        let report = report(Backlog())
        #expect(report.status == "")
        #expect(report.parts.map(\.name) == ["sending", "deliveries", "cases", "quarantine"])
        #expect(!report.parts.contains { !$0.isHealthy })
        #expect(
            report.parts.map(\.detail) == ["not held", "0 deliveries on the way", "none is open", "0 notifications"])
    }

    @Test(arguments: [
        (5.5 * 3600, "in 5 h"), (7199, "in 119 min"), (61, "in 1 min"), (59, "in less than a minute"),
        (0, "has passed"), (-60, "has passed"),
    ])
    func `a deadline is told coarsely`(seconds: TimeInterval, text: String) {
        #expect(report(cases(3, deadlineIn: seconds)).status == "; 3 open cases, the next deadline \(text)")
        #expect(report(cases(1, deadlineIn: seconds)).parts[2].detail == "1 open case, the next deadline \(text)")
    }

    @Test func `cases are a fault once the last warning is due, and never without warnings`() {
        #expect(report(cases(1, deadlineIn: 3601)).parts[2].isHealthy)
        #expect(!report(cases(1, deadlineIn: 3600)).parts[2].isHealthy)
        #expect(report(cases(1, deadlineIn: 1), lastWarning: nil).parts[2].isHealthy)
    }

    @Test func `a hold comes first, and tells how to end it`() {
        let backlog = Backlog(
            deliveries: [
                DeliveryBacklog(
                    app: "coins", state: .queued, count: 1, oldestCreatedAt: now - 600)
            ],
            hold: SendingHold(since: now, reason: "The store came from a backup."))
        let report = report(backlog)
        #expect(
            report.status
                == "; SENDING IS HELD since 2023-11-14T22:13:20Z: see `purser deliveries release`; 1 delivery on the way"
        )
        #expect(!report.parts[0].isHealthy)
        #expect(report.parts[0].detail == "held since 2023-11-14T22:13:20Z: The store came from a backup.")
        #expect(report.parts[1].detail == "1 delivery on the way, the oldest for 10 min")
        #expect(report.parts[1].isHealthy)
    }

    @Test func `a quarantine is a fault for a day`() {
        let fresh = report(Backlog(quarantined: (2, now - 86_399)))
        #expect(fresh.status == "; 2 notifications in quarantine")
        #expect(!fresh.parts[3].isHealthy)
        let old = report(Backlog(quarantined: (2, now - 86_400)))
        #expect(old.status == "")
        #expect(old.parts[3].isHealthy)
        #expect(old.parts[3].detail == "2 notifications, the latest of 2023-11-13T22:13:20Z")
    }
}
