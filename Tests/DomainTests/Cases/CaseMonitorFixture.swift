import Domain
import Foundation
import Logging
import StoreSQL
import StoreSQLite
import TestSupport

/// A monitor of cases at work, over a real store, by a clock that stands still; nothing is sent to Apple.
struct CaseMonitorFixture: Sendable {
    let base: DeliveryFixture
    let log = RecordedLog()
    let policies: [String: RefundPolicy]

    /// Runs a test, and takes everything down again.
    static func with(
        policies: [String: RefundPolicy] = [:], machine: MachineClock? = nil,
        _ test: @Sendable (CaseMonitorFixture) async throws -> Void
    ) async throws {
        try await DeliveryFixture.with(isDispatching: false, machine: machine) { base in
            try await test(CaseMonitorFixture(base: base, policies: policies))
        }
    }

    /// A policy of one rule that states everything, and answers so many hours before the deadline.
    static func policy(hours: Int = 2, percentage: Int32? = nil) -> RefundPolicy {
        let statement = RefundRule.Statement(
            deliveryStatus: .delivered, sampleContentProvided: true, consumptionPercentage: percentage)
        return RefundPolicy(rules: [
            RefundRule(name: "all", outcome: .answer(nil, statement), lead: .seconds(hours * 3600))
        ])
    }

    var store: SQLiteStore { base.store.store }

    /// Lets a monitor work while something is done; a second one knows nothing of the first.
    func monitoring(_ work: () async throws -> Void) async throws {
        var ports = base.ports
        ports.refunds.logger = log.logger
        var settings = Services.Settings(apps: AppCatalog([DeliveryFixture.app, DeliveryFixture.otherApp]))
        settings.refundPolicies = policies
        settings.warnBefore = [.seconds(6 * 3600), .seconds(3600)]
        let monitor = Services(ports: ports, settings: settings).refunds.monitor
        let task = Task { await monitor.run() }
        let result: Result<Void, any Error>
        do {
            // It sleeps when it has looked.
            try await base.sleepersHaveArrived()
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        task.cancel()
        await task.value
        try result.get()
    }

    /// Moves the clock on, and returns when the monitor has looked again.
    func pass(_ duration: Duration) async throws {
        base.clock.advance(by: duration)
        try await base.sleepersHaveArrived()
    }

    func pass(hours: Double) async throws { try await pass(.seconds(hours * 3600)) }

    /// Declares an owner who has consented.
    func consent(of user: String, to transactionID: String) async throws {
        try await base.link(transactionID, to: user)
        try await base.record(user, isConsented: true)
    }

    /// Lets a service report the use of a purchase that was delivered.
    func report(_ transactionID: String, _ percentage: Int32) async throws {
        var facts = UsageFacts()
        (facts.deliveryStatus, facts.sampleContentProvided) = (.delivered, false)
        facts.consumptionPercentage = percentage
        _ = try await store.recordUsage([
            UsageReport(
                app: "coins", subject: .transaction(transactionID, user: nil), environment: nil, facts: facts,
                at: base.now, recordedAt: base.now, recordedBy: "game")
        ])
    }

    var deliveries: [Delivery] {
        get async throws { try await store.deliveries(app: "coins", DeliveryQuery()) }
    }

    func state(of refundCase: RefundCase) async throws -> RefundCase.State? {
        try await store.refundCase(app: refundCase.app, id: refundCase.id)?.state
    }

    /// The minutes that the warnings tell, in order.
    var minutesWarned: [String] {
        log.lines("still without an answer").compactMap { $0.metadata["minutesLeft"] }
    }
}
