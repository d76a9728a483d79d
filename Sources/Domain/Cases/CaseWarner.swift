import Foundation
import Logging

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
        fileprivate var nextLook = Date.distantPast
    }

    /// How often cases near their deadlines are looked for, in seconds; a look costs as much as there are such cases.
    static let interval: TimeInterval = 60

    private let store: any CaseStore
    /// The nearest first.
    private let thresholds: [Duration]
    private let logger: Logger

    init(store: any CaseStore, warnBefore: [Duration], logger: Logger) {
        self.store = store
        thresholds = warnBefore.sorted()
        self.logger = logger
    }

    /// Warns of what has come near since the last look.
    ///
    /// - Parameters:
    ///   - backlog: which apps have open cases.
    ///   - warned: what has been warned of.
    ///   - now: the time of day.
    /// - Throws: `storeUnavailable`.
    func warn(_ backlog: [CaseBacklog], _ warned: inout Warned, at now: Date) async throws(ServiceError) {
        guard let widest = thresholds.last, now >= warned.nextLook else { return }
        warned.byCase = warned.byCase.filter { $0.value.deadline > now }
        let horizon = now.addingTimeInterval(widest / .seconds(1))
        for entry in backlog where entry.nearestDeadline <= horizon {
            var query = CaseQuery(limit: CaseQuery.maximumPageSize)
            query.states = [.open]
            query.environment = entry.environment
            repeat {
                let page = try await store.refundCases(app: entry.app, query)
                for refundCase in page where refundCase.deadline <= horizon { warn(refundCase, &warned, at: now) }
                query.after = page.last.map { CaseQuery.Position(deadline: $0.deadline, id: $0.id) }
                guard page.count == query.limit, let last = page.last, last.deadline <= horizon else { break }
            } while !Task.isCancelled
        }
        warned.nextLook = now.addingTimeInterval(Self.interval)
    }

    /// Warns of a case unless it has been warned of as near as this.
    private func warn(_ refundCase: RefundCase, _ warned: inout Warned, at now: Date) {
        let left = refundCase.deadline.timeIntervalSince(now)
        guard left > 0, let threshold = thresholds.first(where: { left <= $0 / .seconds(1) }) else { return }
        if let earlier = warned.byCase[refundCase.id], earlier.threshold <= threshold { return }
        warned.byCase[refundCase.id] = Warned.Warning(threshold: threshold, deadline: refundCase.deadline)
        logger.warning(
            "A refund case is still without an answer that Apple has accepted",
            metadata: [
                "app": "\(refundCase.app)", "environment": "\(refundCase.environment.rawValue)",
                "case": "\(refundCase.id)", "minutesLeft": "\(Int(left / 60))",
            ])
    }
}
