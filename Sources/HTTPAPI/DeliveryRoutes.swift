import Domain
import HTTPTypes
import JSON

/// What has become of the answers that were taken over.
struct DeliveryRoutes: Sendable {
    private static let filters: Set<String> = ["state", "user", "transactionId", "caseId", "environment", "since"]

    let service: DeliveryService
    let tokens: PageTokenCoder

    /// `GET …/deliveries`: newest first.
    func list(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var checks = RequestChecks()
        checks.require { () throws(ServiceError) in
            try input.refuseUnknownQuery(besides: Self.filters.union(PageRequest.parameters))
        }
        let page = checks.run { () throws(ServiceError) in
            try PageRequest(of: "deliveries", app, input, maximumSize: DeliveryQuery.maximumPageSize, tokens)
        }
        let states = checks.run { () throws(ServiceError) in try input.choices("state", Delivery.State.self) }
        let user = checks.run { () throws(ServiceError) in try input.userFilter() }
        let transactionID = checks.run { () throws(ServiceError) in try input.transactionFilter() }
        let caseID = checks.run { () throws(ServiceError) in try input.single("caseId") }
        let environment = checks.run { () throws(ServiceError) in try input.environment(for: app) }
        let since = checks.run { () throws(ServiceError) in try input.time("since") }
        guard checks.havePassed, let page, let states, let user, let transactionID, let caseID, let environment,
            let since
        else { throw checks.error }
        var query = DeliveryQuery(limit: page.limit)
        query.states = states
        query.user = user
        query.transactionID = transactionID
        query.caseID = caseID
        query.environment = environment
        query.since = since
        query.before = try page.position(\.self)
        let (deliveries, next) = page.page(try await service.deliveries(app: app, query), position: \.id)
        return Answer.object(capacity: 256 + deliveries.count * DeliveryBody.size) { writer in
            writer.memberArray("deliveries") { writer in
                for delivery in deliveries { writer.object { DeliveryBody.write(delivery, to: &$0) } }
            }
            writer.memberIfPresent("nextPageToken", next)
        }
    }

    /// `GET …/deliveries/{deliveryId}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let delivery = try await service.delivery(app: app, id: try input.parameter("deliveryId"))
        return Answer.object(capacity: DeliveryBody.size) { DeliveryBody.write(delivery, to: &$0) }
    }

    /// `POST …/deliveries/{deliveryId}:cancel`.
    func cancel(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: [])
        let delivery = try await service.cancel(
            app: app, id: try input.parameter("deliveryId"), caller: input.caller?.name ?? "")
        return Answer.object(delivery.state.isFinal ? .ok : .accepted, capacity: DeliveryBody.size) {
            DeliveryBody.write(delivery, to: &$0)
        }
    }
}
