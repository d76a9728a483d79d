import AppStoreAPI

extension AppleService {
    /// Extend a Subscription Renewal Date.
    func extendRenewalDate(
        _ identifier: String, _ app: RegisteredApp, _ call: Call
    ) throws(Refusal) -> OutgoingResponse {
        let app = inEnvironment(app)
        let done = try state.withContent { content throws(Refusal) in
            let record = try content.world.original(identifier, of: app)
            let request = try ExtensionRules.single(try members(of: call))
            let done = try content.world.extendRenewalDate(
                of: record, byDays: request.days, request.identifier, now: call.milliseconds)
            content.postEvents()
            return done
        }
        state.agendaChanged()
        let response = ExtendRenewalDateResponse {
            $0.originalTransactionId = identifier
            $0.webOrderLineItemId = done.lineItem
            $0.success = true
            $0.effectiveDate = done.effectiveDate
        }
        return .json(200, response.serialized())
    }

    /// Extend Subscription Renewal Dates for All Active Subscribers.
    func extendRenewalDates(_ app: RegisteredApp, _ call: Call) throws(Refusal) -> OutgoingResponse {
        let request = try ExtensionRules.mass(try members(of: call), of: inEnvironment(app))
        state.withContent { content in
            guard content.world.massExtension(request.requestIdentifier, of: request.app) == nil else { return }
            content.world.begin(request, now: call.milliseconds)
        }
        state.agendaChanged()
        let response = MassExtendRenewalDateResponse { $0.requestIdentifier = request.requestIdentifier }
        return .json(200, response.serialized())
    }

    /// Get Status of Subscription Renewal Date Extensions.
    func extensionStatus(_ parameters: [String], _ app: RegisteredApp) throws(Refusal) -> OutgoingResponse {
        let identifier = try ExtensionRules.massIdentifier(parameters[1])
        let app = inEnvironment(app)
        let found = state.withContent { $0.world.massExtension(identifier, of: app) }
        guard let found, found.productID == parameters[0] else { throw .error(.statusRequestNotFound) }
        return .json(200, found.response.serialized())
    }
}
