import Foundation
package import Logging

/// Watches the deadlines of refund cases: warns as they come near, lets policies answer, and ends what has expired.
package final class CaseMonitor: Sendable {
    /// How often cases are looked at.
    static let interval = Duration.seconds(10)
    /// How many cases are ended in one operation.
    static let expiryBatch = 200

    private let store: any CaseStore
    private let warner: CaseWarner
    private let responder: PolicyResponder
    private let clock: ServiceClock
    private let logger: Logger

    /// - Parameters:
    ///   - store: keeps the cases.
    ///   - deliveries: tells what a policy has answered before.
    ///   - consents: tells whether consent is on record.
    ///   - consumption: sends the answers of policies.
    ///   - apps: whose cases; those of others only expire.
    ///   - policies: the policies of apps that have one, by slug.
    ///   - warnBefore: how long before its deadline an open case is warned of.
    ///   - clock: the clocks.
    ///   - logger: is told of deadlines that are near or have passed.
    package init(
        store: any CaseStore, deliveries: any DeliveryStore, consents: any ConsentStore,
        consumption: ConsumptionService, apps: AppCatalog, policies: [String: ConsumptionPolicy],
        warnBefore: [Duration], clock: ServiceClock, logger: Logger
    ) {
        self.store = store
        warner = CaseWarner(store: store, warnBefore: warnBefore, logger: logger)
        responder = PolicyResponder(
            cases: store, deliveries: deliveries, consents: consents, consumption: consumption, apps: apps,
            policies: policies, clock: clock, logger: logger)
        self.clock = clock
        self.logger = logger
    }

    /// Watches until the task is cancelled.
    package func run() async {
        var warned = CaseWarner.Warned()
        var answered = PolicyResponder.Memory()
        var isFailing = false
        repeat {
            do throws(ServiceError) {
                try await look(&warned, &answered)
                if isFailing { logger.notice("Deadlines of refund cases are watched again") }
                isFailing = false
            } catch {
                if !isFailing, !Task.isCancelled {
                    logger.error(
                        "Deadlines of refund cases cannot be watched",
                        metadata: ["cause": "\(error.cause ?? error.message)"])
                }
                isFailing = true
            }
        } while (try? await clock.sleep(Self.interval)) != nil
    }

    private func look(
        _ warned: inout CaseWarner.Warned, _ answered: inout PolicyResponder.Memory
    ) async throws(ServiceError) {
        let now = clock.now()
        let backlog = try await store.caseBacklog()
        // Warnings first: they need no write, so that a full disk does not silence them.
        try await warner.warn(backlog, &warned, at: now)
        try await responder.answer(backlog, &answered, at: now)
        try await expire(at: now)
    }

    /// Ends what is over, and says once for each app how much it was.
    private func expire(at now: Date) async throws(ServiceError) {
        var counts: [String: Int] = [:]
        defer {
            for (app, count) in counts.sorted(by: { $0.key < $1.key }) {
                logger.warning(
                    "Refund cases have expired without an answer", metadata: ["app": "\(app)", "cases": "\(count)"])
            }
        }
        var expired: [RefundCase]
        repeat {
            expired = try await store.expireCases(at: now, limit: Self.expiryBatch)
            for refundCase in expired { counts[refundCase.app, default: 0] += 1 }
        } while expired.count == Self.expiryBatch
    }
}
