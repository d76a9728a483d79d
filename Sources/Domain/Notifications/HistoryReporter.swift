import Logging

/// What came of the search of one app in a round.
struct HistoryOutcome: Sendable {
    /// The app's slug.
    let app: String
    /// How many notifications do not verify and did not come before, and why the first of them does not.
    var unverified = 0
    var unverifiedFault: String?
    /// Why it did not get through, if so.
    var fault: ServiceError?
}

/// Tells the log what the searches of an environment found, and once what keeps them from getting through.
struct HistoryReporter: Sendable {
    /// What makes two faults the same.
    private struct Fault: Hashable {
        let reason: ServiceError.Reason
        let appleCode: Int64?
    }

    /// How many apps a line names.
    static let longestList = 10

    private let environment: AppStoreEnvironment
    private let logger: Logger
    /// By app; of those that have one.
    private var told: [String: Fault] = [:]
    private var toldOutage = false

    init(environment: AppStoreEnvironment, logger: Logger) {
        self.environment = environment
        self.logger = logger
    }

    /// Tells of what had not come in.
    func found(_ count: Int, of app: String) {
        logger.notice(
            "Apple's notification history held what had not come in",
            metadata: [
                "app": "\(app)", "environment": "\(environment.rawValue)", "notifications": .stringConvertible(count),
            ])
    }

    /// Tells that all searches of the environment wait.
    mutating func outageBegan(_ error: ServiceError) {
        toldOutage = error.reason != .storeUnavailable
        logger.tell(
            "Apple's notification history cannot be read for any app; one at a time looks whether that is over",
            error, level: .warning, ["environment": "\(environment.rawValue)"])
    }

    mutating func outageEnded() {
        guard toldOutage else { return }
        toldOutage = false
        logger.notice(
            "Apple's notification history can be read again", metadata: ["environment": "\(environment.rawValue)"])
    }

    /// Reports a round; who is not among the outcomes is well.
    mutating func report(_ outcomes: [HistoryOutcome]) {
        var news: [Fault: [HistoryOutcome]] = [:]
        var earlier = told
        told = [:]
        for outcome in outcomes {
            guard let fault = outcome.fault.flatMap(Self.fault) else { continue }
            if earlier.removeValue(forKey: outcome.app) != fault { news[fault, default: []].append(outcome) }
            told[outcome.app] = fault
        }
        for outcomes in news.values { report(alike: outcomes) }
        report(unverified: outcomes.filter { $0.unverified > 0 })
    }

    /// An app that was never released has no notifications to be missed, which is no fault.
    private static func fault(_ error: ServiceError) -> Fault? {
        error.reason == .noProductionRelease
            ? nil : Fault(reason: error.reason, appleCode: error.apple?.errorCode)
    }

    /// Reports those that fail for one reason.
    private func report(alike outcomes: [HistoryOutcome]) {
        guard let error = outcomes.first?.fault else { return }
        logger.tell(
            "Apple's notification history could not be read to the end; missed notifications may still be missing",
            error, level: .warning, ["apps": "\(names(outcomes))", "reason": "\(error.reason.rawValue)"])
    }

    private func report(unverified outcomes: [HistoryOutcome]) {
        guard let fault = outcomes.first?.unverifiedFault else { return }
        logger.error(
            "ALARM: Apple's notification history holds what does not verify as the app's; it is in quarantine, and verified anew each day and at the next start",
            metadata: [
                "apps": "\(names(outcomes))", "fault": "\(fault)",
                "notifications": .stringConvertible(outcomes.reduce(0) { $0 + $1.unverified }),
            ])
    }

    private func names(_ outcomes: [HistoryOutcome]) -> String {
        var names = outcomes.prefix(Self.longestList).map { "\($0.app) \(environment.rawValue)" }
        if outcomes.count > names.count { names.append("\(outcomes.count - names.count) more") }
        return names.joined(separator: ", ")
    }
}
