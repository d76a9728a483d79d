import Domain
import JSON

/// Subscriptions and their statuses: of a user, or of a transaction's Apple Account.
struct SubscriptionRoutes: Sendable {
    let gateway: any SubscriptionGateway
    let service: UserSubscriptionsService

    /// `GET …/users/{user}/subscriptions`.
    func forUser(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        let request = checks.run { () throws(ServiceError) in try UserRequest(app, input, besides: ["status"]) }
        let statuses = checks.run { () throws(ServiceError) in try Self.statuses(input) }
        guard let request, let statuses else { throw checks.error }
        let list = try await service.subscriptions(
            of: request.user, statuses: statuses, isPartialAllowed: request.isPartialAllowed,
            input.call(app, request.environment))
        let includesSigned = request.includesSigned
        let capacity = SubscriptionBody.capacity(list.subscriptions, includesSigned: includesSigned)
        return Answer.object(capacity: capacity) { writer in
            SubscriptionBody.write("subscriptions", list.subscriptions, includesSigned: includesSigned, to: &writer)
            writer.member("othersOmitted", list.othersOmitted)
            writer.member("complete", list.gaps.isEmpty)
            writer.member("readAt", Timestamp.text(list.readAt))
            GapBody.write(list.gaps, requestID: input.requestID, to: &writer)
        }
    }

    /// `GET …/transactions/{transactionId}/subscriptions`.
    func forTransaction(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        let request = checks.run { () throws(ServiceError) in
            try TransactionRequest(app, input, takesInclude: true, besides: ["status"])
        }
        let statuses = checks.run { () throws(ServiceError) in try Self.statuses(input) }
        guard let request, let statuses else { throw checks.error }
        let found = try await gateway.subscriptionStatuses(
            request.identifier, statuses: statuses, input.call(app, request.environment))
        let subscriptions = found.subscriptions
        let capacity = SubscriptionBody.capacity(subscriptions, includesSigned: request.includesSigned)
        return Answer.object(capacity: capacity) { writer in
            writer.member("environment", found.environment.rawValue)
            SubscriptionBody.write(
                "subscriptions", subscriptions, includesSigned: request.includesSigned, to: &writer)
        }
    }

    private static func statuses(_ input: RequestInput) throws(ServiceError) -> [SubscriptionStatus] {
        try SubscriptionStatus.filter(input.query.filter { $0.name == "status" }.map(\.value))
    }
}
