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
    ///   - usage: tells what was reported of purchases.
    ///   - consumption: sends the answers of policies.
    ///   - service: declines cases that a policy leaves without an answer.
    ///   - settings: the apps whose cases they are, those of others only expire; the policies of those that have one; how long
    ///     before its deadline an open case is warned of.
    ///   - clock: the clocks.
    ///   - logger: is told of deadlines that are near or have passed.
    package init(
        store: any CaseStore, deliveries: any DeliveryStore, consents: any ConsentStore, usage: any UsageStore,
        consumption: ConsumptionService, service: CaseService, settings: CurrentSettings, clock: ServiceClock,
        logger: Logger
    ) {
        self.store = store
        warner = CaseWarner(store: store, settings: settings, logger: logger)
        responder = PolicyResponder(
            cases: store, deliveries: deliveries, consents: consents, usage: usage, consumption: consumption,
            service: service, settings: settings, clock: clock, logger: logger)
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
        // By a clock in doubt no deadline is near and none has passed.
        guard clock.isCertain else { return }
        let backlog = try await store.caseBacklog()
        // Warnings first: they need no write, so that a full disk does not silence them.
        try await warner.warn(backlog, &warned, at: now, clock.monotonicNow())
        try await responder.answer(backlog, &answered, at: now)
        try await expire(at: now)
    }

    /// Ends what is over, and says once for each app how much it was.
    private func expire(at now: Date) async throws(ServiceError) {
        var counts: [String: Int] = [:]
        defer {
            for (app, count) in counts.sorted(by: { $0.key < $1.key }) {
                logger.warning(
                    "Refund cases have expired without an answer",
                    metadata: ["app": "\(app)", "cases": .stringConvertible(count)])
            }
        }
        var expired: [RefundCase]
        repeat {
            expired = try await store.expireCases(at: now, limit: Self.expiryBatch)
            for refundCase in expired { counts[refundCase.app, default: 0] += 1 }
        } while expired.count == Self.expiryBatch
    }
}

/// Warns of open cases as their deadlines come near: one line for each case and threshold.
struct CaseWarner: Sendable {
    /// What has been warned of.
    struct Warned: Sendable {
        fileprivate struct Warning {
            let threshold: Duration
            let deadline: Date
        }

        fileprivate var byCase: [String: Warning] = [:]
        /// No look is due before this.
        fileprivate var nextLook: ContinuousClock.Instant?
    }

    /// How often cases near their deadlines are looked for; a look costs as much as there are such cases.
    static let interval = Duration.seconds(60)

    private let store: any CaseStore
    private let settings: CurrentSettings
    private let logger: Logger

    init(store: any CaseStore, settings: CurrentSettings, logger: Logger) {
        self.store = store
        self.settings = settings
        self.logger = logger
    }

    /// Warns of what has come near since the last look.
    ///
    /// - Parameters:
    ///   - backlog: which apps have open cases.
    ///   - warned: what has been warned of.
    ///   - now: the time of day.
    ///   - instant: the same moment, by which looks are paced.
    /// - Throws: `storeUnavailable`.
    func warn(
        _ backlog: [CaseBacklog], _ warned: inout Warned, at now: Date, _ instant: ContinuousClock.Instant
    ) async throws(ServiceError) {
        // The nearest first.
        let thresholds = settings.read { $0.warnBefore }.sorted()
        guard let widest = thresholds.last, warned.nextLook.map({ instant >= $0 }) ?? true else { return }
        warned.byCase = warned.byCase.filter { $0.value.deadline > now }
        let horizon = now.advanced(by: widest)
        for entry in backlog where entry.nearestDeadline <= horizon {
            var query = CaseQuery(limit: CaseQuery.maximumPageSize)
            query.states = [.open]
            query.environment = entry.environment
            repeat {
                let page = try await store.refundCases(app: entry.app, query)
                for refundCase in page where refundCase.deadline <= horizon {
                    warn(refundCase, thresholds, &warned, at: now)
                }
                query.after = page.last.map { CaseQuery.Position(deadline: $0.deadline, id: $0.id) }
                guard page.count == query.limit, let last = page.last, last.deadline <= horizon else { break }
            } while !Task.isCancelled
        }
        warned.nextLook = instant + Self.interval
    }

    /// Warns of a case unless it has been warned of as near as this.
    private func warn(
        _ refundCase: RefundCase, _ thresholds: [Duration], _ warned: inout Warned, at now: Date
    ) {
        let left = refundCase.deadline.timeIntervalSince(now)
        guard left > 0, let threshold = thresholds.first(where: { left <= $0 / .seconds(1) }) else { return }
        if let earlier = warned.byCase[refundCase.id], earlier.threshold <= threshold { return }
        warned.byCase[refundCase.id] = Warned.Warning(threshold: threshold, deadline: refundCase.deadline)
        // Testers wait for nobody at night.
        logger.log(
            level: refundCase.environment == .production ? .warning : .info,
            "A refund case is still without an answer that Apple has accepted",
            metadata: [
                "app": "\(refundCase.app)", "environment": "\(refundCase.environment.rawValue)",
                "case": "\(refundCase.id)", "minutesLeft": .stringConvertible(Int(left / 60)),
            ])
    }
}
