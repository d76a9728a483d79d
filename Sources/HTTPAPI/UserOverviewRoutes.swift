import Domain
import JSON

/// What is known of a user, at a glance.
struct UserOverviewRoutes: Sendable {
    /// The most open cases that are shown; the list of cases has them all.
    private static let maximumCases = 50

    let service: UserOverviewService
    let consent: ConsentService
    let cases: CaseService

    /// `GET …/users/{user}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let request = try UserRequest(app, input)
        let history = try await consent.history(app: app, user: request.user)
        let openCases = try await openCases(of: request.user, app, request.environment)
        let overview = try await service.overview(
            of: request.user, isPartialAllowed: request.isPartialAllowed, input.call(app, request.environment))
        let includesSigned = request.includesSigned
        let capacity =
            SubscriptionBody.capacity(overview.activeSubscriptions, includesSigned: includesSigned)
            + 300 * (overview.links.count + openCases.count)
        return Answer.object(capacity: capacity) { writer in
            writer.member("app", app.slug)
            writer.member("user", request.user.value)
            LinkBody.write(overview.links, to: &writer)
            ConsentBody.writeCurrent(history, to: &writer)
            writer.memberArray("openCases") { writer in
                for refundCase in openCases { writer.object { CaseBody.writeSummary(refundCase, to: &$0) } }
            }
            writer.memberArray("accounts") { writer in
                for account in overview.accounts {
                    writer.object { writer in
                        writer.member("kind", account.target.kind.rawValue)
                        writer.member("value", account.target.value)
                        writer.memberOrNull("environment", account.environment?.rawValue)
                    }
                }
            }
            SubscriptionBody.write(
                "activeSubscriptions", overview.activeSubscriptions, includesSigned: includesSigned, to: &writer)
            writer.member("refundCount", overview.refundCount)
            writer.member("othersOmitted", overview.othersOmitted)
            writer.member("complete", overview.incompleteReason == nil && overview.gaps.isEmpty)
            writer.memberIfPresent("incompleteReason", overview.incompleteReason)
            writer.member("readAt", Timestamp.text(overview.readAt))
            GapBody.write(overview.gaps, requestID: input.requestID, to: &writer)
        }
    }

    private func openCases(
        of user: UserID, _ app: App, _ environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> [RefundCase] {
        var query = CaseQuery(limit: Self.maximumCases)
        query.states = [.open]
        query.owner = user
        query.environment = environment
        return try await cases.cases(app: app, query)
    }
}
