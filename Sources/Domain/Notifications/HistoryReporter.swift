import Logging

/// Tells the log what searches found, and once what keeps them from getting through.
struct HistoryReporter {
    /// What makes two faults the same.
    private struct Fault: Hashable {
        let reason: ServiceError.Reason
        let appleCode: Int64?
    }

    /// How many apps a line names.
    static let longestList = 10

    private let logger: Logger
    private var told: [HistoryLane: Fault] = [:]

    init(logger: Logger) { self.logger = logger }

    /// Reports a round.
    mutating func report(_ outcomes: [HistoryOutcome]) {
        var news: [Fault: [HistoryOutcome]] = [:]
        for outcome in outcomes {
            if outcome.found > 0 {
                logger.notice(
                    "Apple's notification history held what had not come in",
                    metadata: [
                        "app": "\(outcome.lane.app.slug)", "environment": "\(outcome.lane.environment.rawValue)",
                        "notifications": "\(outcome.found)",
                    ])
            }
            let fault = outcome.fault.flatMap(Self.fault)
            if let fault, told[outcome.lane] != fault { news[fault, default: []].append(outcome) }
            told[outcome.lane] = fault
        }
        for outcomes in news.values { report(alike: outcomes) }
    }

    /// An app that was never released has no notifications to be missed, which is no fault.
    private static func fault(_ error: ServiceError) -> Fault? {
        error.reason == .noProductionRelease
            ? nil : Fault(reason: error.reason, appleCode: error.apple?.errorCode)
    }

    /// Reports those that fail for one reason.
    private func report(alike outcomes: [HistoryOutcome]) {
        guard let error = outcomes.first?.fault else { return }
        var names = outcomes.prefix(Self.longestList).map { "\($0.lane.app.slug) \($0.lane.environment.rawValue)" }
        if outcomes.count > names.count { names.append("\(outcomes.count - names.count) more") }
        logger.warning(
            "Apple's notification history could not be read to the end; missed notifications may still be missing",
            metadata: [
                "apps": "\(names.joined(separator: ", "))", "reason": "\(error.reason.rawValue)",
                "cause": "\(error.cause ?? error.message)",
            ])
    }
}
