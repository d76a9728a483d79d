import Domain
import HTTPTypes
import JSON

/// Subscriptions and their statuses: of a user, or of a transaction's Apple Account.
struct SubscriptionRoutes: Sendable {
    let gateway: any SubscriptionGateway
    let service: UserSubscriptionsService
    let stored: StoredStateService
    let now: WallClock

    /// `GET …/users/{user}/subscriptions`.
    func forUser(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let request = UserRequest(&fields, app)
        let statuses = SubscriptionStatus.filter(&fields)
        let isStored = fields.wantsStored()
        guard fields.isValid, let request else { throw fields.error }
        if isStored { return try await storedForUser(request, statuses, app) }
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

    /// The same with `source=stored`: from notifications alone.
    private func storedForUser(
        _ request: UserRequest, _ statuses: [SubscriptionStatus], _ app: App
    ) async throws(ServiceError) -> Answer {
        let readAt = now()
        let found = try await stored.subscriptions(
            of: request.user, app: app, environment: request.environment, statuses: statuses)
        let includesSigned = request.includesSigned
        let capacity = SubscriptionBody.capacity(found.subscriptions.map(\.entry), includesSigned: includesSigned)
        return Answer.object(capacity: capacity) { writer in
            writer.member("source", "stored")
            writer.memberArray("subscriptions") { writer in
                for subscription in found.subscriptions {
                    writer.object { writer in
                        SubscriptionBody.write(subscription.entry, includesSigned: includesSigned, to: &writer)
                        writer.member("asOf", Timestamp.text(subscription.asOf))
                    }
                }
            }
            writer.member("othersOmitted", found.othersOmitted)
            writer.member("complete", !found.isCut)
            writer.member("readAt", Timestamp.text(readAt))
        }
    }

    /// `GET …/transactions/{transactionId}/subscriptions`.
    func forTransaction(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let request = TransactionRequest(&fields, app, takesInclude: true)
        let statuses = SubscriptionStatus.filter(&fields)
        guard fields.isValid, let request else { throw fields.error }
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
}

/// The subscription object of our API: Apple's decoded payloads, spliced in byte for byte.
enum SubscriptionBody {
    static func write(_ entry: GroupedSubscription, includesSigned: Bool, to writer: inout JSONWriter) {
        let subscription = entry.subscription
        writer.member("status", subscription.status.rawValue)
        writer.member("subscriptionGroupIdentifier", entry.subscriptionGroupIdentifier)
        writer.member("originalTransactionId", subscription.originalTransactionID)
        writer.memberRaw("transaction", subscription.transaction.payload)
        writer.memberRaw("renewalInfo", subscription.renewalInfo.payload)
        writer.member("environment", subscription.transaction.environment.rawValue)
        writer.member("verified", true)
        guard includesSigned else { return }
        writer.member("signedTransactionInfo", subscription.transaction.signed)
        writer.member("signedRenewalInfo", subscription.renewalInfo.signed)
    }

    /// Writes a member that is an array of subscriptions.
    static func write(
        _ name: String, _ entries: [GroupedSubscription], includesSigned: Bool, to writer: inout JSONWriter
    ) {
        writer.memberArray(name) { writer in
            for entry in entries { writer.object { write(entry, includesSigned: includesSigned, to: &$0) } }
        }
    }

    /// The capacity that an answer with these subscriptions needs.
    static func capacity(_ entries: [GroupedSubscription], includesSigned: Bool) -> Int {
        entries.reduce(512) { size, entry in
            let (transaction, renewal) = (entry.subscription.transaction, entry.subscription.renewalInfo)
            let signed = includesSigned ? transaction.signed.utf8.count + renewal.signed.utf8.count : 0
            return size + 256 + transaction.payload.count + renewal.payload.count + signed
        }
    }
}

/// Extending renewal dates: of one subscription, or of all subscribers of a product.
struct ExtensionRoutes: Sendable {
    let gateway: any SubscriptionGateway

    /// `PUT …/transactions/{transactionId}/renewalExtension`.
    func extend(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let request = TransactionRequest(&fields, app, .originalTransaction)
        let wanted = RenewalExtension(&fields)
        guard fields.isValid, let request, let wanted else { throw fields.error }
        let outcome = try await gateway.extendRenewalDate(
            wanted, originalTransactionID: request.identifier, input.call(app, request.environment))
        return Answer.object { writer in
            writer.member("originalTransactionId", outcome.originalTransactionID ?? request.identifier)
            writer.memberIfPresent("webOrderLineItemId", outcome.webOrderLineItemID)
            writer.member("success", outcome.success)
            writer.memberIfPresent("effectiveDate", outcome.effectiveDate)
            writer.member("environment", outcome.environment.rawValue)
        }
    }

    /// `POST …/renewalExtensions`.
    func extendAll(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let environment = fields.environment(for: app, isRequired: true)
        let wanted = MassRenewalExtension(&fields)
        guard fields.isValid, let environment, let wanted else { throw fields.error }
        let identifier = try await gateway.extendRenewalDates(wanted, input.call(app, environment))
        var answer = Answer.object(.accepted) { writer in
            writer.member("requestIdentifier", identifier)
            writer.member("productId", wanted.productID)
            writer.member("environment", environment.rawValue)
        }
        // Both stand in a path as they are: their rules admit nothing that would have to be encoded.
        answer.headers[.location] =
            "/v1/apps/\(app.slug)/renewalExtensions/\(wanted.productID)/\(wanted.extension.requestIdentifier)?environment=\(environment.rawValue)"
        return answer
    }

    /// `GET …/renewalExtensions/{productId}/{requestIdentifier}`.
    func status(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let product = fields.identifier("productId", .product, in: .path)
        let identifier = MassRenewalExtension.identifier(&fields)
        let environment = fields.environment(for: app, isRequired: true)
        guard fields.isValid, let product, let identifier, let environment else { throw fields.error }
        let status = try await gateway.massExtensionStatus(
            productID: product, requestIdentifier: identifier, input.call(app, environment))
        return Answer.object { writer in
            writer.member("requestIdentifier", status.requestIdentifier ?? identifier)
            writer.member("productId", product)
            writer.member("complete", status.isComplete)
            writer.memberIfPresent("completeDate", status.completeDate)
            writer.memberIfPresent("succeededCount", status.succeededCount)
            writer.memberIfPresent("failedCount", status.failedCount)
            writer.member("environment", environment.rawValue)
        }
    }
}
