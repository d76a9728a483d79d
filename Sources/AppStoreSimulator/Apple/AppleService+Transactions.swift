import AppStoreAPI
import Foundation
import JSON

extension AppleService {
    /// How many refunds version 1 of their history shows.
    private static let refundsInVersion1 = 50

    /// Get Transaction Info.
    func transactionInfo(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let record = try state.withContent { content throws(AppleServiceError) in
            try content.world.transaction(identifier, bundleID: app.bundleID, environment: environment)
        }
        let signed = try sign([record.payload], call)
        return .json(200, TransactionInfoResponse(signedTransactionInfo: signed.first).serialized())
    }

    /// Get Transaction History; version 1 leaves out consumables that the app has finished, unless they are revoked.
    func history(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall, version: Int
    ) throws(AppleServiceError) -> OutgoingResponse {
        let page = try state.withContent { content throws(AppleServiceError) in
            let customer = try content.world.customer(
                identifier, bundleID: app.bundleID, environment: environment)
            let filter = try CheckedHistoryQuery(
                call.request.query, leavingOut: version == 1 ? content.world.finished : [])
            return try content.world.historyPage(of: customer, filter: filter, size: content.pageSize)
        }
        let response = HistoryResponse(
            revision: page.revision.text, hasMore: page.hasMore, bundleId: app.bundleID, appAppleId: app.appAppleID,
            environment: environment.wireValue, signedTransactions: try sign(page.transactions, call))
        return .json(200, response.serialized())
    }

    /// Get Refund History, version 2.
    func refundHistory(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let revisions = call.request.query.filter { $0.name == "revision" }
        guard revisions.count <= 1 else { throw .error(.invalidRequestRevision) }
        let page = try state.withContent { content throws(AppleServiceError) in
            let customer = try content.world.customer(
                identifier, bundleID: app.bundleID, environment: environment)
            return try content.world.refundPage(
                of: customer, revision: revisions.first?.value, size: content.pageSize)
        }
        let response = RefundHistoryResponse(
            signedTransactions: try sign(page.transactions, call), revision: page.revision.text, hasMore: page.hasMore)
        return .json(200, response.serialized())
    }

    /// Get Refund History, version 1: the 50 latest, the latest first.
    func refundHistoryV1(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let transactions = try state.withContent { content throws(AppleServiceError) in
            let record = try content.world.original(identifier, of: inEnvironment(app))
            return content.world.latestRefunds(of: record.customer, limit: Self.refundsInVersion1)
        }
        var response = RefundLookupResponse()
        response.signedTransactions = try sign(transactions, call)
        return .json(200, response.serialized())
    }

    /// Send Consumption Information, either version.
    func consumption(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall,
        _ check: (ConsumptionRequestBody, TransactionPayload) throws(AppleServiceError) -> Void
    ) throws(AppleServiceError) -> OutgoingResponse {
        guard let body = call.request.body else { throw .malformed(status: 413, "the body is too long") }
        guard Self.isJSON(call.request.contentType) else {
            throw .malformed(status: 415, "Content-Type is not application/json")
        }
        let record = try state.withContent { content throws(AppleServiceError) in
            try content.world.transaction(identifier, bundleID: app.bundleID, environment: environment)
        }
        let report = try ConsumptionRequestBody(body)
        try check(report, record.payload)
        state.withContent { $0.refundRequests.note(ReceivedAnswer(report), of: identifier) }
        return OutgoingResponse(status: 202)
    }

    /// The longest order id that is looked up; Apple's own are shorter.
    private static let longestOrderID = 64

    /// Get App Transaction Info.
    func appTransactionInfo(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let payload = try state.withContent { content throws(AppleServiceError) in
            let customer = try content.world.customer(identifier, bundleID: app.bundleID, environment: environment)
            return content.world.appTransaction(of: customer, at: call.milliseconds)
        }
        guard var payload else { throw .error(.appTransactionDoesNotExist) }
        switch call.tampering {
        case .wrongBundleId: payload.bundleId = (payload.bundleId ?? "") + ".other"
        case .wrongEnvironment: payload.receiptType = environment.other.wireValue
        default: break
        }
        var response = AppTransactionInfoResponse()
        response.signedAppTransactionInfo = try sign(payload.serialized(), call)
        return .json(200, response.serialized())
    }

    /// Look Up Order ID, which there is in production only.
    func orderLookup(_ identifier: String, _ app: RegisteredApp, _ call: AppleCall) throws(AppleServiceError)
        -> OutgoingResponse
    {
        guard environment == .production else { throw .malformed(status: 404, "orders are in production only") }
        let isOrderID = identifier.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0 & ~0x20) }
        guard isOrderID, identifier.utf8.count <= Self.longestOrderID else { throw .error(.generalBadRequest) }
        let transactions = state.withContent { content in
            content.world.orders.transactions(of: identifier).compactMap { content.world.records[$0] }
                .filter { $0.customer.bundleID == app.bundleID && $0.environment == environment }.map(\.payload)
        }
        var response = OrderLookupResponse()
        response.status = transactions.isEmpty ? .invalid : .valid
        if !transactions.isEmpty { response.signedTransactions = try sign(transactions, call) }
        return .json(200, response.serialized())
    }

    /// Set App Account Token.
    func setAppAccountToken(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let record = try state.withContent { content throws(AppleServiceError) in
            try content.world.purchaseToTie(identifier, of: inEnvironment(app))
        }
        let token = (try members(of: call)["appAccountToken"]?.string?.streamSafe).flatMap { UUID(uuidString: $0) }
        guard let token else { throw .error(.invalidAppAccountTokenUUID) }
        state.withContent { $0.world.setAppAccountToken(token.uuidString.lowercased(), of: record) }
        return OutgoingResponse(status: 200)
    }

    /// Finish Transaction.
    func finishTransaction(_ identifier: String, _ app: RegisteredApp) throws(AppleServiceError) -> OutgoingResponse {
        try state.withContent { content throws(AppleServiceError) in
            _ = try content.world.transaction(identifier, bundleID: app.bundleID, environment: environment)
            content.world.finished.insert(identifier)
        }
        return OutgoingResponse(status: 200)
    }
}
