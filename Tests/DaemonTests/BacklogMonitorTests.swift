import Domain
import Foundation
import Synchronization
import Testing

@testable import Daemon

/// What waits, as the metrics tell it.
struct BacklogMonitorTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)
    private let apps = AppCatalog([
        App(slug: "coins", bundleID: "com.example.coins", environments: [.production]),
        App(slug: "gems", bundleID: "com.example.gems", environments: [.sandbox]),
    ])

    /// What is told after looks that found this.
    private func lines(_ backlogs: Backlog...) async throws -> [String] {
        let registry = PrometheusRegistry(help: MetricsHelp.texts)
        let rest = Mutex(backlogs)
        let monitor = BacklogMonitor(
            apps: apps, metrics: registry, now: { now }, read: { rest.withLock { $0.removeFirst() } })
        for _ in backlogs { try await monitor.look() }
        return registry.render().split(separator: "\n").map(String.init).filter { $0.hasPrefix("purser_") }
    }

    @Test func `apps of which nothing has ever waited have no series`() async throws {
        let lines = try await lines(Backlog())
        #expect(lines == ["purser_quarantined_notifications 0", "purser_sending_held 0"])
    }

    @Test func `that nothing waits any more is told`() async throws {
        let earlier = Backlog(
            deliveries: ["coins", "gems"].map {
                DeliveryBacklog(app: $0, state: .queued, count: 1, oldestCreatedAt: now - 1)
            })
        let lines = try await lines(earlier, Backlog())
        for line in [
            "purser_sending_held 0", "purser_quarantined_notifications 0",
            #"purser_deliveries{app="coins",state="queued"} 0"#, #"purser_deliveries{app="gems",state="sending"} 0"#,
            #"purser_delivery_oldest_age_seconds{app="coins"} 0"#,
            #"purser_cases_open{app="gems",environment="Sandbox"} 0"#,
            #"purser_case_nearest_deadline_seconds{app="coins",environment="Production"} +Inf"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test func `each app has its deliveries, its oldest and its nearest deadline`() async throws {
        let backlog = Backlog(
            deliveries: [
                DeliveryBacklog(
                    app: "coins", state: .queued, count: 7, oldestCreatedAt: now - 90),
                DeliveryBacklog(
                    app: "coins", state: .sending, count: 2, oldestCreatedAt: now - 120),
            ],
            cases: [CaseBacklog(app: "gems", environment: .sandbox, open: 3, nearestDeadline: now - 5)],
            quarantined: (4, now), hold: SendingHold(since: now, reason: "A backup."))
        let lines = try await lines(backlog)
        for line in [
            "purser_sending_held 1", "purser_quarantined_notifications 4",
            #"purser_deliveries{app="coins",state="queued"} 7"#, #"purser_deliveries{app="coins",state="sending"} 2"#,
            #"purser_delivery_oldest_age_seconds{app="coins"} 120"#,
            #"purser_cases_open{app="gems",environment="Sandbox"} 3"#,
            #"purser_case_nearest_deadline_seconds{app="gems",environment="Sandbox"} -5"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test func `what a broken store last said is not told again`() async throws {
        let gate = StoreState()
        let monitor = BacklogMonitor(
            apps: apps, metrics: PrometheusRegistry(help: [:]), now: { now },
            read: { () throws(ServiceError) in try await gate.read() })
        try await monitor.look()
        #expect(monitor.backlog != nil)
        await gate.breakDown()
        await #expect(throws: ServiceError.self) { try await monitor.look() }
        #expect(monitor.backlog == nil)
    }

    private actor StoreState {
        private var isBroken = false

        func breakDown() { isBroken = true }

        func read() throws(ServiceError) -> Backlog {
            if isBroken { throw ServiceError(.storeUnavailable, "Full.") }
            return Backlog()
        }
    }
}
