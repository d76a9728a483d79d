import Foundation
import Logging

/// Gives the answers of policies: to open cases that nobody has answered, whose owner's consent is on record.
///
/// An answer goes the way of every other one, through the same rules and the same gate. A policy answers a case once:
/// whatever becomes of that delivery, the rest is for people.
struct PolicyResponder: Sendable {
    /// Which cases are not looked at before when, and how far the look at all of them has got.
    struct Memory: Sendable {
        fileprivate var notBefore: [String: ContinuousClock.Instant] = [:]
        fileprivate var places: [Lane: CaseQuery.Position] = [:]
        /// Of which cases the log was told that no rule applies, each with its deadline, after which it is asked no more.
        fileprivate var told: [String: Date] = [:]
    }

    /// The cases of one app in one environment.
    fileprivate struct Lane: Hashable {
        let app: String
        let environment: AppStoreEnvironment
    }

    /// How many cases of one app and environment are read together.
    static let batchSize = 200
    /// How many cases of rules that act at once are read in one look, besides the newest.
    static let sweepSize = 1000
    /// How long until a case is looked at again that waits for its time, for consent or for usage.
    static let pause = Duration.seconds(60)
    /// Of how many cases it is known that the log was told of them; beyond that it is told of no other one.
    static let maximumTold = 10_000
    /// How many rules are named that a case has passed by.
    static let maximumNamedRules = 5
    /// How long accepting an answer may take.
    static let patience = Duration.seconds(30)

    let cases: any CaseStore
    let deliveries: any DeliveryStore
    let consents: any ConsentStore
    let usage: any UsageStore
    let consumption: ConsumptionService
    let service: CaseService
    let settings: CurrentSettings
    let clock: ServiceClock
    let logger: Logger

    /// Answers what is due.
    ///
    /// - Parameters:
    ///   - backlog: which apps have open cases.
    ///   - memory: what need not be looked at.
    ///   - now: the time of day.
    /// - Throws: `storeUnavailable`.
    func answer(_ backlog: [CaseBacklog], _ memory: inout Memory, at now: Date) async throws(ServiceError) {
        let (instant, settings) = (clock.monotonicNow(), settings.value)
        memory.notBefore = memory.notBefore.filter { $0.value > instant }
        memory.told = memory.told.filter { $0.value > now }
        for entry in backlog {
            guard let policy = settings.refundPolicies[entry.app], let app = try? settings.apps.app(entry.app),
                app.environments.contains(entry.environment)
            else { continue }
            let lane = Lane(app: entry.app, environment: entry.environment)
            if let lead = policy.longestLead(in: entry.environment) {
                try await answerNearest(lane, before: now.advanced(by: lead), app, policy, &memory, at: now)
            }
            if policy.actsAtOnce(in: entry.environment) {
                try await sweep(lane, app, policy, &memory, at: now)
            }
        }
    }

    /// Answers cases whose deadline is near, the nearest first.
    private func answerNearest(
        _ lane: Lane, before horizon: Date, _ app: App, _ policy: RefundPolicy, _ memory: inout Memory, at now: Date
    ) async throws(ServiceError) {
        var query = CaseQuery(limit: Self.batchSize + memory.notBefore.count)
        query.environment = lane.environment
        let found = try await cases.unansweredCases(app: lane.app, query, deadlineBefore: horizon)
        try await answer(found, app, policy, &memory, at: now)
    }

    /// Answers the newest cases, and goes on among the older ones where the last look ended, so that none waits for ever
    /// however many wait for consent or usage.
    private func sweep(
        _ lane: Lane, _ app: App, _ policy: RefundPolicy, _ memory: inout Memory, at now: Date
    ) async throws(ServiceError) {
        var query = CaseQuery(limit: Self.batchSize)
        query.environment = lane.environment
        query.isLatestFirst = true
        let newest = try await cases.unansweredCases(app: lane.app, query, deadlineBefore: .distantFuture)
        try await answer(newest, app, policy, &memory, at: now)
        guard newest.count == query.limit, let last = newest.last else {
            memory.places[lane] = nil
            return
        }
        query.limit = Self.sweepSize
        query.after = memory.places[lane] ?? CaseQuery.Position(deadline: last.deadline, id: last.id)
        let older = try await cases.unansweredCases(app: lane.app, query, deadlineBefore: .distantFuture)
        try await answer(older, app, policy, &memory, at: now)
        memory.places[lane] =
            older.count == query.limit
            ? older.last.map { CaseQuery.Position(deadline: $0.deadline, id: $0.id) } : nil
    }

    private func answer(
        _ found: [RefundCase], _ app: App, _ policy: RefundPolicy, _ memory: inout Memory, at now: Date
    ) async throws(ServiceError) {
        for refundCase in found where memory.notBefore[refundCase.id] == nil && refundCase.deadline > now {
            let pause = try await answer(refundCase, app, policy, &memory, at: now)
            memory.notBefore[refundCase.id] = clock.monotonicNow() + pause
        }
    }
}

// MARK: One case

extension PolicyResponder {
    /// Answers a case, if it may be.
    ///
    /// - Returns: after how long to look at it again.
    /// - Throws: `storeUnavailable`.
    private func answer(
        _ refundCase: RefundCase, _ app: App, _ policy: RefundPolicy, _ memory: inout Memory, at now: Date
    ) async throws(ServiceError) -> Duration {
        let left = clock.remaining(until: refundCase.deadline)
        let facts = try await RefundPolicy.Facts(refundCase, cases: cases, usage: usage)
        let (decision, passed) = policy.decide(facts, at: now)
        guard let rule = decision.rule else {
            tellWhy(refundCase, passed, &memory)
            return Self.pause
        }
        let due = rule.due(for: refundCase)
        // What it needs may come to be known until then, or another rule apply.
        guard due <= now else { return min(Self.pause, clock.remaining(until: due)) }
        switch decision {
        case .undecided: return Self.pause
        case .silence: return try await stayedSilent(refundCase, rule, app, within: left)
        case .answer(_, let answer, let trace):
            guard try await consents.isRecorded(for: refundCase, app) else { return Self.pause }
            guard try await !hasAnswered(refundCase) else { return left }
            return try await send(answer, trace, refundCase, app, within: left)
        }
    }

    /// Tells once of a case why no rule applies to it; what they need may come to be known later.
    private func tellWhy(_ refundCase: RefundCase, _ passed: [RefundPolicy.PassedRule], _ memory: inout Memory) {
        guard memory.told[refundCase.id] == nil, memory.told.count < Self.maximumTold else { return }
        memory.told[refundCase.id] = refundCase.deadline
        let more = passed.count - Self.maximumNamedRules
        let reasons =
            passed.prefix(Self.maximumNamedRules).map { "\($0.name): \($0.why)" } + (more > 0 ? ["\(more) more"] : [])
        logger.info(
            "No rule of the policy applies to a refund case so far",
            metadata: Self.metadata(refundCase, ["rules": reasons.joined(separator: "; ")]))
    }

    private func send(
        _ answer: ConsumptionAnswer, _ trace: PolicyTrace, _ refundCase: RefundCase, _ app: App, within left: Duration
    ) async throws(ServiceError) -> Duration {
        let request = ConsumptionService.Request(
            caller: RefundPolicy.caller, target: .refundCase(refundCase.id), answer: answer,
            environment: refundCase.environment, policy: trace)
        let call = UpstreamCall(
            app: app, environment: refundCase.environment, deadline: clock.monotonicNow() + Self.patience,
            priority: .deadlineBound)
        do throws(ServiceError) {
            let delivery = try await consumption.send(request, call)
            logger.notice(
                "A policy has answered a refund case",
                metadata: Self.metadata(refundCase, ["delivery": delivery.id, "rule": trace.rule]))
        } catch {
            switch error.reason {
            case .storeUnavailable: throw error
            // Somebody was quicker, and may change it again.
            case .consentWithdrawn, .deliveryUnderWay: return Self.pause
            default:
                let fields = error.violations.map(\.field).joined(separator: ", ")
                logger.warning(
                    "A policy cannot answer a refund case",
                    metadata: Self.metadata(
                        refundCase, ["reason": error.reason.rawValue, "fields": fields, "rule": trace.rule]))
            }
        }
        return left
    }

    /// Declines a case, since the policy wants Apple to get nothing.
    private func stayedSilent(
        _ refundCase: RefundCase, _ rule: RefundRule, _ app: App, within left: Duration
    ) async throws(ServiceError) -> Duration {
        do throws(ServiceError) {
            _ = try await service.decline(
                app: app, id: refundCase.id, note: rule.name, caller: RefundPolicy.caller)
            logger.notice(
                "A policy leaves a refund case without an answer",
                metadata: Self.metadata(refundCase, ["rule": rule.name]))
        } catch {
            // Somebody was quicker.
            guard error.reason == .caseClosed else { throw error }
        }
        return left
    }

    /// Whether a policy has answered the case before, perhaps in an earlier run.
    private func hasAnswered(_ refundCase: RefundCase) async throws(ServiceError) -> Bool {
        var query = DeliveryQuery(limit: DeliveryQuery.maximumPageSize)
        query.caseID = refundCase.id
        return try await deliveries.deliveries(app: refundCase.app, query)
            .contains { $0.caller == RefundPolicy.caller }
    }

    private static func metadata(_ refundCase: RefundCase, _ others: [String: String]) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "app": "\(refundCase.app)", "environment": "\(refundCase.environment.rawValue)",
            "case": "\(refundCase.id)",
        ]
        for (name, value) in others { metadata[name] = "\(value)" }
        return metadata
    }
}

extension RefundPolicy {
    /// The longest time before a deadline at which a rule acts; nil where all act at once.
    fileprivate func longestLead(in environment: AppStoreEnvironment) -> Duration? {
        environment == .production ? rules.compactMap(\.lead).max() : nil
    }

    fileprivate func actsAtOnce(in environment: AppStoreEnvironment) -> Bool {
        environment == .sandbox || rules.contains { $0.lead == nil }
    }
}

extension ConsentStore {
    /// Whether the consent of a case's owner is on record, to a wording that the app still takes.
    ///
    /// - Throws: `storeUnavailable`.
    func isRecorded(for refundCase: RefundCase, _ app: App) async throws(ServiceError) -> Bool {
        guard let owner = refundCase.owner,
            let latest = try await consentHistory(app: app.slug, user: owner).last
        else { return false }
        return latest.isConsented && app.isWordingRecent(latest.wordingVersion)
    }
}

extension RefundPolicy.Facts {
    /// What is known of a case at this moment.
    ///
    /// - Throws: `storeUnavailable`.
    init(_ refundCase: RefundCase, cases: any CaseStore, usage: any UsageStore) async throws(ServiceError) {
        let report = try await usage.usage(of: ConsentSubject(refundCase))
        var refunds: Int?
        if let owner = refundCase.owner {
            refunds = try await cases.refunds(
                of: owner, app: refundCase.app, in: refundCase.environment, besides: refundCase.transactionID)
        }
        self.init(refundCase: refundCase, usage: report, refunds: refunds)
    }
}
