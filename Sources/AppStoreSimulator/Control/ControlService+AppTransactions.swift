import AppStoreAPI
import JSON

extension ControlService {
    /// What can be set; Apple assigns the rest.
    private static let appTransactionFields = [
        "applicationVersion", "versionExternalIdentifier", "originalPurchaseDate", "originalApplicationVersion",
        "preorderDate", "originalPlatform",
    ]

    /// How accounts came to have apps.
    static let appTransactionRoutes = [
        ControlRoute("GET", "/accounts/{accountId}/app-transactions/{bundleId}") {
            service, request throws(ControlError) in
            try service.appTransaction(request)
        },
        ControlRoute("PUT", "/accounts/{accountId}/app-transactions/{bundleId}") {
            service, request throws(ControlError) in
            let members = try request.body(appTransactionFields).members
            let details = AppTransactionPayload(members)
            // Reading is lenient; what did not survive it was of the wrong type.
            let understood = (try? JSONScanner.members(of: details.serialized()))?.keys ?? []
            for name in members.keys where !understood.contains(name) { throw .invalid("\(name) has the wrong type") }
            try service.state.setAppTransaction(details, of: request.parameters[0], bundleID: request.parameters[1])
            return try service.appTransaction(request)
        },
        ControlRoute("DELETE", "/accounts/{accountId}/app-transactions/{bundleId}") {
            service, request throws(ControlError) in
            try service.state.setAppTransaction(nil, of: request.parameters[0], bundleID: request.parameters[1])
            return OutgoingResponse(status: 204)
        },
    ]

    private func appTransaction(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        let now = state.milliseconds
        let payload = try state.withContent { content throws(ControlError) in
            let customer = Customer(
                accountID: try content.world.account(request.parameters[0]).id,
                bundleID: try content.world.app(request.parameters[1]).bundleID)
            return content.world.appTransaction(of: customer, at: now)
        }
        guard let payload else { throw .notFound("account \(request.parameters[0]) has no app transaction") }
        return .json(200, payload.serialized())
    }
}
