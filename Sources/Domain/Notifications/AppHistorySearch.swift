import Foundation

/// What a search of Apple's history works with; the same for every app.
final class HistoryDependencies: Sendable {
    let gateway: any NotificationGateway
    let store: any NotificationStore
    let quarantine: NotificationQuarantine
    let processor: NotificationProcessor
    let clock: ServiceClock

    init(
        gateway: any NotificationGateway, store: any NotificationStore, quarantine: NotificationQuarantine,
        processor: NotificationProcessor, clock: ServiceClock
    ) {
        self.gateway = gateway
        self.store = store
        self.quarantine = quarantine
        self.processor = processor
        self.clock = clock
    }
}

/// One search in the history of an app in an environment: its passes, page by page, so that it goes on where it stopped.
///
/// It waits for nothing and tries nothing again: that is left to whoever knows what else there is to do meanwhile.
struct AppHistorySearch: Sendable {
    /// How long one page may take.
    static let pageTime = Duration.seconds(60)
    /// How often a pass is begun anew because its pagination token has expired.
    static let maximumRestarts = 3
    /// Apple's refusal of a pagination token that has expired.
    static let paginationTokenExpired: Int64 = 4_000_017

    /// What a search has come to so far.
    struct Findings: Sendable {
        /// How many notifications had not come in before.
        var found = 0
        /// How many do not verify and did not come before, and why the first of them does not.
        var unverified = 0
        var unverifiedFault: String?
        /// A pass that failed alone, while the others go on.
        var fault: ServiceError?
    }

    private let app: App
    private let plan: HistoryPlan
    /// Whether it looks again for what did not verify and could not be kept.
    private let isRetrying: Bool
    private let dependencies: HistoryDependencies
    private var progress = HistoryProgress()
    /// What of it is kept.
    private var kept: HistoryProgress?
    /// Where the pass for what has a deadline stands, if it is under way.
    private var requests: HistoryProgress.Search?
    /// Up to when the search looks that was begun here.
    private var end: Date?
    private var findings = Findings()

    init(app: App, plan: HistoryPlan, isRetrying: Bool, dependencies: HistoryDependencies) {
        self.app = app
        self.plan = plan
        self.isRetrying = isRetrying
        self.dependencies = dependencies
    }

    private var clock: ServiceClock { dependencies.clock }

    /// What was found since it was last asked.
    mutating func takeFindings() -> Findings {
        defer { findings = Findings() }
        return findings
    }

    /// Searches for what has a deadline, up to now.
    mutating func searchRequests() async throws(ServiceError) {
        try await load()
        try await readAlone(requests ?? pass(.consumptionRequests, until: clock.now()), isKept: false)
        requests = nil
    }

    /// Searches for the rest; at first what an earlier search left undone.
    ///
    /// - Parameter limit: when it stops after the page that it is at.
    /// - Returns: whether it got through.
    /// - Throws: what the gateway and the store throw; then it goes on where it stopped.
    mutating func searchRest(until limit: ContinuousClock.Instant) async throws(ServiceError) -> Bool {
        try await load()
        if let left = progress.search {
            if plan.isWithinReach(left, at: clock.now()) {
                guard try await finish(left, until: limit) else { return false }
                // It was begun a moment ago.
                if left.end == end { return true }
            } else {
                lookAgain(from: left.start)
            }
        }
        let now = clock.now()
        end = now
        return try await finish(pass(.failures, until: now), until: limit)
    }

    private mutating func load() async throws(ServiceError) {
        kept = try await dependencies.store.historyProgress(app: app.slug, environment: plan.environment)
        progress = kept ?? HistoryProgress()
    }

    private mutating func save(_ search: HistoryProgress.Search?) async throws(ServiceError) {
        progress.search = search
        let isKept = try await dependencies.store.saveHistoryProgress(
            progress, replacing: kept, app: app.slug, environment: plan.environment)
        guard isKept else {
            throw ServiceError(.storeUnavailable, "Another copy of the daemon searches this history.")
        }
        kept = progress
    }

    private func pass(_ pass: HistoryProgress.Pass, until end: Date) -> HistoryProgress.Search {
        plan.search(
            pass, until: end, completeUntil: progress.completeUntil,
            unkeptSince: isRetrying ? progress.unkeptSince : nil)
    }

    private mutating func lookAgain(from start: Date) {
        progress.unkeptSince = min(progress.unkeptSince ?? start, start)
    }
}

// MARK: Passes

extension AppHistorySearch {
    /// Reads a pass from where it stands, and those that follow it.
    ///
    /// - Returns: whether the last one is complete.
    private mutating func finish(
        _ search: HistoryProgress.Search, until limit: ContinuousClock.Instant
    ) async throws(ServiceError) -> Bool {
        var search = search
        if search.pass == .consumptionRequests { search = pass(.failures, until: search.end) }
        if search.pass == .failures {
            guard try await readAlone(search, isKept: true, until: limit) else { return false }
            search = pass(.all, until: search.end)
            // From here on it is this pass that looks again; what it cannot keep either says so anew.
            if let since = progress.unkeptSince, search.start <= since { progress.unkeptSince = nil }
            try await save(search)
        }
        guard try await read(search, isKept: true, until: limit) else { return false }
        progress.completeUntil = search.end
        try await save(nil)
        return true
    }

    /// Reads a pass so that a page which cannot be read ends it alone, and not those that follow.
    @discardableResult
    private mutating func readAlone(
        _ search: HistoryProgress.Search, isKept: Bool, until limit: ContinuousClock.Instant? = nil
    ) async throws(ServiceError) -> Bool {
        do throws(ServiceError) {
            return try await read(search, isKept: isKept, until: limit)
        } catch {
            guard error.reason == .appleAnswerInvalid else { throw error }
            findings.fault = error
            return true
        }
    }

    /// Reads a pass to its end.
    ///
    /// - Parameters:
    ///   - search: where it stands.
    ///   - isKept: whether where it stands is kept after each page; otherwise only here.
    ///   - limit: when it stops after the page that it is at; nil for never.
    /// - Returns: whether it came to its end.
    /// - Throws: what the gateway and the store throw.
    private mutating func read(
        _ search: HistoryProgress.Search, isKept: Bool, until limit: ContinuousClock.Instant?
    ) async throws(ServiceError) -> Bool {
        var search = search
        var restarts = 0
        while true {
            let next: String?
            do throws(ServiceError) {
                next = try await readPage(of: search)
            } catch {
                guard search.paginationToken != nil, error.apple?.errorCode == Self.paginationTokenExpired,
                    restarts < Self.maximumRestarts
                else { throw error }
                restarts += 1
                search = search.at(nil)
                continue
            }
            guard let next else { return true }
            search = search.at(next)
            if isKept { try await save(search) } else { requests = search }
            if let limit, clock.monotonicNow() >= limit { return false }
        }
    }

    /// Reads a page and keeps what is new on it.
    ///
    /// - Returns: the token of the next page; nil at the end.
    private mutating func readPage(of search: HistoryProgress.Search) async throws(ServiceError) -> String? {
        let call = UpstreamCall(
            app: app, environment: plan.environment, deadline: clock.monotonicNow() + Self.pageTime)
        let page = try await dependencies.gateway.notificationHistoryPage(
            NotificationHistoryQuery(search), paginationToken: search.paginationToken, call)
        try await keep(page.notifications)
        try await quarantine(page.unverified, of: search)
        guard page.hasMore else { return nil }
        if let next = page.paginationToken, next != search.paginationToken { return next }
        throw ServiceError(
            .appleAnswerInvalid, "Apple's notification history does not come to an end.",
            cause: "a page that is not the last one does not lead to the next")
    }

    /// Keeps what has not come in; all of a page share one write to the disk.
    private mutating func keep(_ page: [SentNotification]) async throws(ServiceError) {
        let isNew = try await FanOut.results(of: page, atMost: page.count, isPartialAllowed: false) {
            [dependencies, app] sent throws(ServiceError) in
            try await dependencies.store.record(
                StoredNotification(
                    app: app.slug, notification: sent.notification, source: .history,
                    receivedAt: dependencies.clock.receipt(signedAt: sent.notification.signedAt)))
        }
        let new = isNew.count { $0 == .success(true) }
        findings.found += new
        if new > 0 { dependencies.processor.kick() }
    }

    /// Keeps what does not verify, for later; what there is no room for is looked for again.
    private mutating func quarantine(
        _ page: [UnverifiedNotification], of search: HistoryProgress.Search
    ) async throws(ServiceError) {
        let receipts = try await FanOut.results(of: page, atMost: page.count, isPartialAllowed: false) {
            [dependencies, app, plan] unverified throws(ServiceError) in
            try await dependencies.quarantine.keep(unverified, of: app, in: plan.environment)
        }
        for (unverified, receipt) in zip(page, receipts) where receipt != .success(.known) {
            findings.unverified += 1
            findings.unverifiedFault = findings.unverifiedFault ?? unverified.fault
            // The other passes look at a part of what this one looks at.
            if receipt == .success(.refused), search.pass == .all { lookAgain(from: search.start) }
        }
    }
}

extension HistoryProgress.Search {
    /// The same search at another page.
    fileprivate func at(_ paginationToken: String?) -> Self {
        Self(pass: pass, start: start, end: end, paginationToken: paginationToken)
    }
}
