import Synchronization

/// Reports what became of an app's refund requests.
package final class RefundReportService: Sendable {
    /// How many reports are made at once: each keeps one of the store's readers busy for as long as it takes.
    package static let maximumConcurrentReports = 2
    /// When to try again what came while so many were made.
    static let retryAfter = Duration.seconds(5)

    /// How long making one may take: a million cases take seconds, and nobody waits for longer.
    package static let timeLimit = Duration.seconds(60)

    private let store: any RefundReportStore
    private let clock: ServiceClock
    private let running = Mutex(0)

    package init(store: any RefundReportStore, clock: ServiceClock) {
        self.store = store
        self.clock = clock
    }

    /// The environment that a report is about when nobody says: Production, but for an app that has only the other one.
    package static func defaultEnvironment(of app: App) -> AppStoreEnvironment {
        LinkService.onlyEnvironment(of: app) ?? .production
    }

    /// Makes a report, which reads each case that it is about.
    ///
    /// - Throws: `invalidRequest` when it would have more rows than `RefundReportQuery.maximumRows`, `overloaded` when as many
    ///   reports are being made as may be, `deadlineExceeded` when it takes longer than `timeLimit`, `storeUnavailable`.
    package func report(app: App, _ query: RefundReportQuery) async throws(ServiceError) -> RefundReport {
        let isAdmitted = running.withLock { running in
            guard running < Self.maximumConcurrentReports else { return false }
            running += 1
            return true
        }
        guard isAdmitted else {
            throw ServiceError(
                .overloaded,
                "\(Self.maximumConcurrentReports) other reports are being made; try again when they are ready.",
                retryAfter: Self.retryAfter)
        }
        defer { running.withLock { $0 -= 1 } }
        return try await limitedReport(app: app, query)
    }

    private func limitedReport(app: App, _ query: RefundReportQuery) async throws(ServiceError) -> RefundReport {
        let first = await withTaskGroup(of: Result<RefundReport, ServiceError>?.self) { group in
            group.addTask { [store] in
                do throws(ServiceError) {
                    return .success(try await store.refundReport(app: app.slug, query))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask { [clock] in
                try? await clock.sleep(Self.timeLimit)
                return nil
            }
            // The store gives up what is cancelled; the group waits until its reader is free again.
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let first else {
            throw ServiceError(
                .deadlineExceeded,
                "The report takes longer than \(Self.timeLimit.components.seconds) s; give `from` and `to` closer together."
            )
        }
        return try first.get()
    }
}

/// Counts refund requests.
package protocol RefundReportStore: Sendable {
    /// What became of an app's refund requests: every case that the query is about, as all of them are at one moment, counted by
    /// `RefundReportBuilder`.
    ///
    /// Holds in memory what the report's rows take, however many cases there are. Ends early when its task is cancelled.
    ///
    /// - Throws: `invalidRequest` when the report would have too many rows, `storeUnavailable`.
    func refundReport(app: String, _ query: RefundReportQuery) async throws(ServiceError) -> RefundReport

    /// How many decisions of Apple's have been recorded since the store is there, whatever has been removed since; each together
    /// with its case, in no order.
    ///
    /// - Throws: `storeUnavailable`.
    func refundDecisions() async throws(ServiceError) -> [RefundDecisionCount]
}

/// Decisions of Apple's about refunds that have something in common.
package struct RefundDecisionCount: Sendable, Equatable {
    package let app: String
    package let environment: AppStoreEnvironment
    /// That a refund was reversed counts besides the refund.
    package let outcome: RefundCase.Outcome
    /// Of the answer that Apple had accepted by then; nil where there was none, or it told none.
    package let refundPreference: ConsumptionV2.RefundPreference?
    package let count: Int

    package init(
        app: String, environment: AppStoreEnvironment, outcome: RefundCase.Outcome,
        refundPreference: ConsumptionV2.RefundPreference?, count: Int
    ) {
        self.app = app
        self.environment = environment
        self.outcome = outcome
        self.refundPreference = refundPreference
        self.count = count
    }
}
