import AppStoreAPI
import JSON

extension ControlService {
    /// What accounts buy and what becomes of it; every answer shows the transaction as Apple would now sign it.
    static let purchaseRoutes = [
        ControlRoute("POST", "/accounts/{accountId}/purchases") { service, request throws(ControlError) in
            .created(try service.state.buy(purchase(request), by: request.parameters[0]))
        },
        ControlRoute("GET", "/accounts/{accountId}/transactions") { service, request throws(ControlError) in
            try service.listTransactions(request)
        },
        ControlRoute("GET", "/transactions/{transactionId}") { service, request throws(ControlError) in
            .transaction(200, try service.state.transaction(request.parameters[0]))
        },
        ControlRoute("GET", "/transactions/{transactionId}/order") { service, request throws(ControlError) in
            guard let order = try service.state.order(of: request.parameters[0]) else {
                throw .notFound("what a family member was given belongs to no order of theirs")
            }
            return .json(200, ["orderId": .string(order)])
        },
        ControlRoute("POST", "/transactions/{transactionId}/restores") { service, request throws(ControlError) in
            _ = try request.body([])
            return .created(try service.state.restore(request.parameters[0]))
        },
        ControlRoute("POST", "/transactions/{transactionId}/shares") { service, request throws(ControlError) in
            let body = try request.body(["accountId"])
            return .created(
                try service.state.share(request.parameters[0], with: body.requiredString("accountId")))
        },
        ControlRoute("DELETE", "/transactions/{transactionId}/share") { service, request throws(ControlError) in
            .transaction(200, try service.state.endSharing(request.parameters[0]))
        },
        ControlRoute("POST", "/transactions/{transactionId}/refund") { service, request throws(ControlError) in
            .created(try service.state.refund(request.parameters[0], refund(request)))
        },
        ControlRoute("DELETE", "/transactions/{transactionId}/refund") { service, request throws(ControlError) in
            .transaction(200, try service.state.reverseRefund(request.parameters[0]))
        },
    ]

    /// What a purchase may say; Apple assigns the rest.
    private static let purchaseFields = [
        "bundleId", "productId", "type", "quantity", "price", "currency", "storefront", "storefrontId",
        "appAccountToken", "purchaseDate", "expiresDate", "subscriptionGroupIdentifier", "offerType", "offerIdentifier",
        "offerDiscountType", "offerPeriod", "billingPlanType", "advancedCommerceInfo", "commitmentInfo",
    ]

    private static func purchase(_ request: ControlRequest) throws(ControlError) -> TransactionPayload {
        let members = try request.body(purchaseFields).members
        let purchase = TransactionPayload(members)
        // Reading is lenient; what did not survive it was of the wrong type.
        let understood = (try? JSONScanner.members(of: purchase.serialized()))?.keys ?? []
        for name in members.keys where !understood.contains(name) {
            throw .invalid("\(name.shortened) has the wrong type")
        }
        return purchase
    }

    private static func refund(_ request: ControlRequest) throws(ControlError) -> Refund {
        let body = try request.body(["reason", "percentage", "date"])
        let reason = try body.integer("reason", in: 0...1) ?? 0
        let percentage = try body.integer("percentage", in: 1...Int64(Refund.whole)) ?? Int(Refund.whole)
        return Refund(
            reason: RevocationReason(rawValue: Int32(reason)), percentage: Int32(percentage),
            date: try body.integer("date"))
    }

    private func listTransactions(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        let payloads = try state.withContent { content throws(ControlError) in
            let account = try content.world.account(request.parameters[0])
            return content.world.transactionIDs.keys.filter { $0.accountID == account.id }
                .sorted { $0.bundleID < $1.bundleID }.flatMap(content.world.records).map(\.payload)
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.memberArray("transactions") { writer in
                for payload in payloads { writer.raw(payload.serialized()) }
            }
        }
        return .json(200, writer.bytes)
    }

    // MARK: App transactions

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
            for name in members.keys where !understood.contains(name) {
                throw .invalid("\(name.shortened) has the wrong type")
            }
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

extension OutgoingResponse {
    /// A transaction that is new.
    static func created(_ payload: TransactionPayload) -> OutgoingResponse { transaction(201, payload) }

    /// A transaction as Apple would now sign it.
    static func transaction(_ status: Int, _ payload: TransactionPayload) -> OutgoingResponse {
        json(status, payload.serialized())
    }
}
