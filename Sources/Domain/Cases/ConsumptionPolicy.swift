import Foundation
import Logging

/// The answer that an app gives by itself when nobody else has answered and the customer's consent is on record.
package struct ConsumptionPolicy: Sendable, Equatable {
    /// The caller of deliveries that a policy made; no configured caller has this name, as it is no slug.
    package static let caller = "(policy)"

    /// How long before the deadline it answers in Production; in the Sandbox it does at once, as Apple decides there within
    /// minutes.
    package let beforeDeadline: Duration
    package let answer: ConsumptionV2

    package init(beforeDeadline: Duration, answer: ConsumptionV2) {
        self.beforeDeadline = beforeDeadline
        self.answer = answer
    }
}

/// Gives the answers of policies: to open cases that nobody has answered, whose owner's consent is on record.
///
/// An answer goes the way of every other one, through the same rules and the same gate. A policy answers a case once:
/// whatever becomes of that delivery, the rest is for people.
struct PolicyResponder: Sendable {
    /// Which cases are not looked at before when.
    struct Memory: Sendable {
        fileprivate var notBefore: [String: ContinuousClock.Instant] = [:]
    }

    /// How many cases of one app and environment are looked at together.
    static let batchSize = 200
    /// How long until a case without consent on record is looked at again.
    static let consentPause = Duration.seconds(60)
    /// How long accepting an answer may take.
    static let patience = Duration.seconds(30)

    let cases: any CaseStore
    let deliveries: any DeliveryStore
    let consents: any ConsentStore
    let consumption: ConsumptionService
    let apps: AppCatalog
    let policies: [String: ConsumptionPolicy]
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
        let instant = clock.monotonicNow()
        memory.notBefore = memory.notBefore.filter { $0.value > instant }
        for entry in backlog {
            guard let policy = policies[entry.app], let app = apps.all.first(where: { $0.slug == entry.app }),
                app.environments.contains(entry.environment)
            else { continue }
            let horizon = now.advanced(
                by: entry.environment == .sandbox ? .seconds(2 * RefundCase.answerWindow) : policy.beforeDeadline)
            guard entry.nearestDeadline < horizon else { continue }
            let open = try await cases.unansweredCases(
                app: entry.app, environment: entry.environment, deadlineBefore: horizon,
                limit: Self.batchSize + memory.notBefore.count)
            for refundCase in open where memory.notBefore[refundCase.id] == nil && refundCase.deadline > now {
                memory.notBefore[refundCase.id] = instant + (try await answer(refundCase, app, policy))
            }
        }
    }

    /// Answers a case, if it may be.
    ///
    /// - Returns: after how long to look at it again.
    /// - Throws: `storeUnavailable`.
    private func answer(
        _ refundCase: RefundCase, _ app: App, _ policy: ConsumptionPolicy
    ) async throws(ServiceError) -> Duration {
        guard let owner = refundCase.owner,
            let consent = try await consents.consentHistory(app: app.slug, user: owner).last, consent.isConsented,
            app.isWordingRecent(consent.wordingVersion)
        else { return Self.consentPause }
        guard try await !hasAnswered(refundCase) else { return clock.remaining(until: refundCase.deadline) }
        let request = ConsumptionService.Request(
            caller: ConsumptionPolicy.caller, target: .refundCase(refundCase.id), answer: .v2(policy.answer),
            environment: refundCase.environment)
        let call = UpstreamCall(
            app: app, environment: refundCase.environment, deadline: clock.monotonicNow() + Self.patience,
            priority: .deadlineBound)
        do throws(ServiceError) {
            let delivery = try await consumption.send(request, call)
            logger.notice(
                "A policy has answered a refund case", metadata: Self.metadata(refundCase, ["delivery": delivery.id]))
        } catch {
            switch error.reason {
            case .storeUnavailable: throw error
            // Somebody was quicker, and may change it again.
            case .consentWithdrawn, .deliveryUnderWay: return Self.consentPause
            default:
                let fields = error.violations.map(\.field).joined(separator: ", ")
                logger.warning(
                    "A policy cannot answer a refund case",
                    metadata: Self.metadata(refundCase, ["reason": error.reason.rawValue, "fields": fields]))
            }
        }
        return clock.remaining(until: refundCase.deadline)
    }

    /// Whether a policy has answered the case before, perhaps in an earlier run.
    private func hasAnswered(_ refundCase: RefundCase) async throws(ServiceError) -> Bool {
        var query = DeliveryQuery(limit: DeliveryQuery.maximumPageSize)
        query.caseID = refundCase.id
        return try await deliveries.deliveries(app: refundCase.app, query)
            .contains { $0.caller == ConsumptionPolicy.caller }
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
