import Foundation

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
    ///   - unkeptSince: since when there is something to be looked for again, if so.
    /// - Returns: the pass, to be begun.
    func search(
        _ pass: HistoryProgress.Pass, until end: Date, completeUntil: Date?, unkeptSince: Date? = nil
    ) -> HistoryProgress.Search {
        let lookBack =
            switch pass {
            // What was signed earlier is past its deadline.
            case .consumptionRequests: RefundCase.answerWindow + Self.overlap
            case .failures: Self.longestFailureLookBack
            case .all where completeUntil == nil && unkeptSince == nil: firstLookBack / .seconds(1)
            case .all: TimeInterval.infinity
            }
        // A clock that was set back makes the end of the last search lie ahead.
        let known = min(completeUntil ?? .distantPast, unkeptSince ?? end, end).addingTimeInterval(-Self.overlap)
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
