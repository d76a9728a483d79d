import Domain
import JSON

/// What Apple knows by order id.
struct OrderRoutes: Sendable {
    /// Apple's `status` of an order id that is none of the app's.
    private static let invalidStatus: Int64 = 1

    let gateway: any TransactionGateway

    /// `GET …/orders/{orderId}`: production only, as Apple has no such call in the sandbox.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        let identifier = checks.run { () throws(ServiceError) in try input.identifier("orderId", .order) }
        checks.require { () throws(ServiceError) in
            try input.refuseUnknownQuery(besides: ["environment", "include"])
        }
        checks.require { () throws(ServiceError) in try Self.requireProduction(app, input) }
        let includesSigned = checks.run { () throws(ServiceError) in try input.includesSigned() }
        guard checks.havePassed, let identifier, let includesSigned else { throw checks.error }
        let order = try await gateway.order(identifier, input.call(app, .production))
        guard order.status != Self.invalidStatus else {
            throw ServiceError(.orderNotFound, "Apple knows no order `\(identifier)` of app `\(app.slug)`.")
        }
        let capacity = TransactionBody.capacity(order.transactions, includesSigned: includesSigned)
        return Answer.object(capacity: capacity) { writer in
            writer.member("orderId", identifier)
            writer.member("status", order.status)
            writer.memberArray("transactions") { writer in
                for transaction in order.transactions {
                    writer.object { TransactionBody.write(transaction, includesSigned: includesSigned, to: &$0) }
                }
            }
            writer.member("environment", order.environment.rawValue)
        }
    }

    private static func requireProduction(_ app: App, _ input: RequestInput) throws(ServiceError) {
        guard try input.environment(for: app) != .sandbox else {
            throw .invalid([
                Violation(
                    field: "environment", rule: "enum", message: "Orders can only be looked up in `Production`.")
            ])
        }
        _ = try RequestInput.environment(AppStoreEnvironment.production.rawValue, for: app)
    }
}
