import Foundation

/// One search in the history of an app in an environment: its passes, page by page, so that it goes on where it stopped.
struct AppHistorySearch: Sendable {
    /// How long one page may take.
    static let pageTime = Duration.seconds(60)
    /// The longest wait for budget or for Apple within a search; a longer one is left to the next search.
    static let longestWait = Duration.seconds(120)
    /// How often a page is tried again after a failure that time may mend.
    static let maximumRetries = 3
    /// The wait before the first of these; each next one is twice as long.
    static let firstRetryPause = Duration.seconds(2)
    /// How often a pass is begun anew because its pagination token has expired.
    static let maximumRestarts = 3
    /// Apple's refusal of a pagination token that has expired.
    static let paginationTokenExpired: Int64 = 4_000_017

    private let app: App
    private let plan: HistoryPlan
    private let gateway: any NotificationGateway
    private let store: any NotificationStore
    private let processor: NotificationProcessor
    private let clock: ServiceClock
    private var completeUntil: Date?
    private var found = 0
    private var unverifiedCount = 0
    /// A pass that failed alone, while the others go on.
    private var fault: ServiceError?

    init(
        app: App, plan: HistoryPlan, gateway: any NotificationGateway, store: any NotificationStore,
        processor: NotificationProcessor, clock: ServiceClock
    ) {
        self.app = app
        self.plan = plan
        self.gateway = gateway
        self.store = store
        self.processor = processor
        self.clock = clock
    }

    private var origin: AppEnvironment { AppEnvironment(app: app.slug, environment: plan.environment) }

    /// Searches up to now; at first what an earlier search left undone.
    mutating func run() async -> HistoryOutcome {
        do throws(ServiceError) {
            let progress = try await store.historyProgress(app: app.slug, environment: plan.environment)
            completeUntil = progress?.completeUntil
            if let left = progress?.search, plan.isWithinReach(left, at: clock.now()) {
                // What has a deadline comes first, also before what was left undone.
                if left.pass != .consumptionRequests {
                    try await readAlone(pass(.consumptionRequests, until: clock.now()), isKept: false)
                }
                try await finish(left)
            }
            try await finish(pass(.consumptionRequests, until: clock.now()))
            let unverified = unverifiedCount > 0 ? ServiceError.unverified(unverifiedCount) : nil
            return HistoryOutcome(origin: origin, found: found, fault: fault ?? unverified)
        } catch {
            return HistoryOutcome(origin: origin, found: found, fault: error)
        }
    }

    private func pass(_ pass: HistoryProgress.Pass, until end: Date) -> HistoryProgress.Search {
        plan.search(pass, until: end, completeUntil: completeUntil)
    }

    /// Reads a pass from where it stands, and those that follow it.
    private mutating func finish(_ search: HistoryProgress.Search) async throws(ServiceError) {
        var search = search
        while true {
            switch search.pass {
            case .consumptionRequests:
                try await readAlone(search, isKept: true)
                search = pass(.failures, until: search.end)
            case .failures:
                try await readAlone(search, isKept: true)
                search = pass(.all, until: search.end)
            case .all:
                try await read(search, isKept: true)
                completeUntil = search.end
                return try await save(nil)
            }
            try await save(search)
        }
    }

    /// Reads a pass so that a page which does not verify ends it alone, and not those that follow.
    private mutating func readAlone(
        _ search: HistoryProgress.Search, isKept: Bool
    ) async throws(ServiceError) {
        do throws(ServiceError) {
            try await read(search, isKept: isKept)
        } catch {
            guard error.reason == .appleAnswerInvalid else { throw error }
            fault = error
        }
    }

    private func save(_ search: HistoryProgress.Search?) async throws(ServiceError) {
        try await store.saveHistoryProgress(
            HistoryProgress(completeUntil: completeUntil, search: search), app: app.slug,
            environment: plan.environment)
    }
}

// MARK: Pages

extension AppHistorySearch {
    /// Reads a pass to its end.
    ///
    /// `isKept`: whether where it stands is kept after each page.
    private mutating func read(_ search: HistoryProgress.Search, isKept: Bool) async throws(ServiceError) {
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
            guard let next else { return }
            search = search.at(next)
            if isKept { try await save(search) }
        }
    }

    /// Reads a page and keeps what is new on it; tries again what time may mend.
    ///
    /// - Returns: the token of the next page; nil at the end.
    private mutating func readPage(of search: HistoryProgress.Search) async throws(ServiceError) -> String? {
        var retries = 0
        while true {
            do throws(ServiceError) {
                let call = UpstreamCall(
                    app: app, environment: plan.environment, deadline: clock.monotonicNow() + Self.pageTime)
                let page = try await gateway.notificationHistoryPage(
                    NotificationHistoryQuery(search), paginationToken: search.paginationToken, call)
                try await keep(page.notifications)
                unverifiedCount += page.unverifiedCount
                guard page.hasMore else { return nil }
                if let next = page.paginationToken, next != search.paginationToken { return next }
                throw ServiceError(
                    .appleAnswerInvalid, "Apple's notification history does not come to an end.",
                    cause: "a page that is not the last one does not lead to the next")
            } catch {
                guard let pause = Self.pause(after: error, retries), !Task.isCancelled else { throw error }
                retries += 1
                guard (try? await clock.sleep(pause)) != nil else { throw error }
            }
        }
    }

    /// Keeps what has not come in; all of a page share one write to the disk.
    private mutating func keep(_ page: [SentNotification]) async throws(ServiceError) {
        let isNew = try await FanOut.results(of: page, atMost: page.count, isPartialAllowed: false) {
            [store, app, clock] sent throws(ServiceError) in
            try await store.record(
                StoredNotification(
                    app: app.slug, notification: sent.notification, source: .history, receivedAt: clock.now()))
        }
        let new = isNew.count { $0 == .success(true) }
        found += new
        if new > 0 { processor.kick() }
    }

    /// How long to wait before a page is tried again; nil when that is left to the next search.
    private static func pause(after error: ServiceError, _ retries: Int) -> Duration? {
        switch error.reason {
        case .budgetExhausted, .appleRateLimited:
            let wait = max(error.retryAfter ?? firstRetryPause, firstRetryPause)
            return wait <= longestWait ? wait : nil
        case .appleUnavailable, .deadlineExceeded, .storeUnavailable:
            guard retries < maximumRetries else { return nil }
            let wait = max(error.retryAfter ?? .zero, firstRetryPause * (1 << retries))
            return wait <= longestWait ? wait : nil
        default: return nil
        }
    }
}

extension HistoryProgress.Search {
    /// The same search at another page.
    fileprivate func at(_ paginationToken: String?) -> Self {
        Self(pass: pass, start: start, end: end, paginationToken: paginationToken)
    }
}

/// Which part of Apple's history each pass of a search asks for.
struct HistoryPlan: Sendable {
    /// How far back a search begins before the end of the last complete one, in seconds.
    static let overlap: TimeInterval = 3600
    /// How far back failures are looked for at most, in seconds.
    static let longestFailureLookBack: TimeInterval = 3 * 86_400

    let environment: AppStoreEnvironment
    /// How far back everything is looked for if no search was ever complete.
    let firstLookBack: Duration

    /// A pass from its first page on.
    ///
    /// - Parameters:
    ///   - pass: which one.
    ///   - end: up to when the search looks: when it was begun.
    ///   - completeUntil: up to when an earlier search was complete.
    /// - Returns: the pass, to be begun.
    func search(_ pass: HistoryProgress.Pass, until end: Date, completeUntil: Date?) -> HistoryProgress.Search {
        let lookBack =
            switch pass {
            // What was signed earlier is past its deadline.
            case .consumptionRequests: RefundCase.answerWindow + Self.overlap
            case .failures: Self.longestFailureLookBack
            case .all: completeUntil == nil ? firstLookBack / .seconds(1) : TimeInterval.infinity
            }
        // A clock that was set back makes the end of the last search lie ahead.
        let known = min(completeUntil ?? .distantPast, end).addingTimeInterval(-Self.overlap)
        let start = max(known, end.addingTimeInterval(-min(lookBack, longestLookBack)))
        return HistoryProgress.Search(pass: pass, start: start, end: end, paginationToken: nil)
    }

    /// Whether Apple still answers for the whole window of a search that was left undone.
    func isWithinReach(_ search: HistoryProgress.Search, at now: Date) -> Bool {
        search.start > now.addingTimeInterval(-longestLookBack - Self.overlap / 2)
    }

    /// A little less than Apple's history holds, so that a search of some minutes stays within it.
    private var longestLookBack: TimeInterval {
        TimeInterval(NotificationHistoryQuery.windowDays(in: environment)) * 86_400 - Self.overlap
    }
}

extension NotificationHistoryQuery {
    /// What Apple is asked in a pass; the same for each of its pages.
    init(_ search: HistoryProgress.Search) {
        self.init(
            startDate: search.start.milliseconds,
            endDate: search.end.milliseconds,
            notificationType: search.pass == .consumptionRequests ? "CONSUMPTION_REQUEST" : nil,
            onlyFailures: search.pass == .failures ? true : nil)
    }
}
