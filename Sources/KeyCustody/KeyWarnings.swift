import Domain
import Foundation
import Metrics

/// What an operator should look at before it hurts.
package struct KeyWarningPolicy: Sendable, Equatable {
    /// How long a key may be in use; nil for any time.
    package var maximumAge: Duration?
    /// How long a key may stand by, or be active, without having signed; nil for any time.
    package var unusedFor: Duration?

    package init(maximumAge: Duration? = .seconds(365 * 86_400), unusedFor: Duration? = .seconds(90 * 86_400)) {
        self.maximumAge = maximumAge
        self.unusedFor = unusedFor
    }

    /// What is to be said of a key that may sign, one sentence each.
    func warnings(
        about facts: KeyFacts, _ state: KeyStatus.State, _ history: KeyHistory?, at now: Date
    ) -> [String] {
        guard state == .active || state == .standby, let history else { return [] }
        var warnings: [String] = []
        if let maximumAge, Self.isOver(maximumAge, since: history.firstSeenAt, at: now) {
            warnings.append("in use since \(Self.day(history.firstSeenAt)); replace it")
        }
        if let unusedFor, Self.isOver(unusedFor, since: history.lastUsedAt ?? history.firstSeenAt, at: now) {
            warnings.append(
                history.lastUsedAt.map { "not used since \(Self.day($0)); does it still sign for anybody?" }
                    ?? "never used since \(Self.day(history.firstSeenAt)); does anybody need it?")
        }
        return warnings
    }

    private static func isOver(_ duration: Duration, since date: Date, at now: Date) -> Bool {
        now.timeIntervalSince(date) > TimeInterval(duration.components.seconds)
    }

    private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }
}

/// What the metrics tell of keys.
struct KeyGauges: Sendable {
    private let byState: [KeyStatus.State: Gauge]
    private let closed: Gauge
    private let warned: Gauge
    private let takeovers: Gauge
    private let directoryProblems: Gauge

    init(_ metrics: any MetricsFactory) {
        byState = Dictionary(
            uniqueKeysWithValues: KeyStatus.State.allCases.map { state in
                (state, Gauge(label: "purser_keys", dimensions: [("state", state.rawValue)], factory: metrics))
            })
        closed = Gauge(label: "purser_keys_closed", dimensions: [], factory: metrics)
        warned = Gauge(label: "purser_keys_warned_of", dimensions: [], factory: metrics)
        takeovers = Gauge(label: "purser_key_takeovers", dimensions: [], factory: metrics)
        directoryProblems = Gauge(label: "purser_key_directory_problems", dimensions: [], factory: metrics)
    }

    func record(_ overview: KeyOverview, takeovers count: Int) {
        for (state, gauge) in byState { gauge.record(overview.keys.count { $0.state == state }) }
        closed.record(overview.keys.count { $0.facts.problem != nil })
        warned.record(overview.keys.count { !$0.warnings.isEmpty })
        takeovers.record(count)
        directoryProblems.record(overview.directoryProblems.count)
    }
}
