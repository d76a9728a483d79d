import Domain
import HTTPTypes
import JSON

/// Extending renewal dates: of one subscription, or of all subscribers of a product.
struct ExtensionRoutes: Sendable {
    let gateway: any SubscriptionGateway

    /// `PUT …/transactions/{transactionId}/renewalExtension`.
    func extend(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let fields = try input.jsonObject().fieldValues
        var checks = RequestChecks()
        let request = checks.run { () throws(ServiceError) in
            try TransactionRequest(app, input, .originalTransaction)
        }
        let wanted = checks.run { () throws(ServiceError) in try RenewalExtension(fields) }
        guard let request, let wanted else { throw checks.error }
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
        let fields = try input.jsonObject().fieldValues
        var checks = RequestChecks()
        checks.require { () throws(ServiceError) in try input.refuseUnknownQuery(besides: ["environment"]) }
        let environment = checks.run { () throws(ServiceError) in try input.requiredEnvironment(for: app) }
        let wanted = checks.run { () throws(ServiceError) in try MassRenewalExtension(fields) }
        guard checks.havePassed, let environment, let wanted else { throw checks.error }
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
        var checks = RequestChecks()
        let product = checks.run { () throws(ServiceError) in try input.identifier("productId", .product) }
        let identifier = checks.run { () throws(ServiceError) in
            let text = try input.parameter("requestIdentifier")
            try MassRenewalExtension.checkIdentifier(text, field: "requestIdentifier")
            return text
        }
        checks.require { () throws(ServiceError) in try input.refuseUnknownQuery(besides: ["environment"]) }
        let environment = checks.run { () throws(ServiceError) in try input.requiredEnvironment(for: app) }
        guard checks.havePassed, let product, let identifier, let environment else { throw checks.error }
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
