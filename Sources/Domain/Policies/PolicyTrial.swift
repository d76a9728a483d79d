import Foundation

/// Tells how apps answer refund requests by themselves, and what a policy says of past ones; sends nothing.
package struct PolicyTrial: Sendable {
    /// The most cases of one trial.
    package static let maximumCases = 1000

    /// What a policy says of a case, by what is known now.
    package struct Result: Sendable {
        package let refundCase: RefundCase
        package let decision: RefundPolicy.Decision
        /// The rules before the one that applies.
        package let passed: [RefundPolicy.PassedRule]
        /// What Apple would get; nil where it gets nothing.
        package let body: [UInt8]?
        /// Whether the owner's consent is on record, without which nothing is sent.
        package let isConsented: Bool
    }

    private let settings: CurrentSettings
    private let cases: any CaseStore
    private let usage: any UsageStore
    private let consents: any ConsentStore
    private let gateway: any AppStoreGateway
    private let now: WallClock

    init(
        settings: CurrentSettings, cases: any CaseStore, usage: any UsageStore, consents: any ConsentStore,
        gateway: any AppStoreGateway, now: @escaping WallClock
    ) {
        self.settings = settings
        self.cases = cases
        self.usage = usage
        self.consents = consents
        self.gateway = gateway
        self.now = now
    }

    /// The policy of an app in the configuration; nil where it has none.
    package func policy(of app: App) -> RefundPolicy? { settings.read { $0.refundPolicies[app.slug] } }

    /// Tries a policy on the latest cases of those asked for, up to a number.
    ///
    /// - Throws: `storeUnavailable`.
    package func results(
        of policy: RefundPolicy, app: App, among cases: CaseQuery, upTo limit: Int
    ) async throws(ServiceError) -> [Result] {
        var results: [Result] = []
        var query = cases
        query.isLatestFirst = true
        while results.count < limit {
            query.limit = min(CaseQuery.maximumPageSize, limit - results.count)
            let page = try await self.cases.refundCases(app: app.slug, query)
            for refundCase in page { results.append(try await result(of: policy, refundCase, app)) }
            guard page.count == query.limit, let last = page.last else { break }
            query.after = CaseQuery.Position(deadline: last.deadline, id: last.id)
        }
        return results
    }

    private func result(
        of policy: RefundPolicy, _ refundCase: RefundCase, _ app: App
    ) async throws(ServiceError) -> Result {
        let facts = try await RefundPolicy.Facts(refundCase, cases: cases, usage: usage)
        let (decision, passed) = policy.decide(facts, at: now())
        var body: [UInt8]?
        if case .answer(_, let answer, _) = decision { body = gateway.consumptionBody(answer) }
        return Result(
            refundCase: refundCase, decision: decision, passed: passed, body: body,
            isConsented: try await consents.isRecorded(for: refundCase, app))
    }
}
