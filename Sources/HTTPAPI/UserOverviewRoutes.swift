import Domain
import JSON

/// What is known of a user, at a glance.
struct UserOverviewRoutes: Sendable {
    let service: UserOverviewService

    /// `GET …/users/{user}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let request = try UserRequest(app, input)
        let overview = try await service.overview(
            of: request.user, isPartialAllowed: request.isPartialAllowed, input.call(app, request.environment))
        let includesSigned = request.includesSigned
        let capacity =
            SubscriptionBody.capacity(overview.activeSubscriptions, includesSigned: includesSigned)
            + 300 * overview.links.count
        return Answer.object(capacity: capacity) { writer in
            writer.member("app", app.slug)
            writer.member("user", request.user.value)
            LinkBody.write(overview.links, to: &writer)
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
}
