import AppStoreAPI
import Foundation
import JSON
import OpenSSL

extension AppleService {
    /// The longest order id that is looked up; Apple's own are shorter.
    private static let longestOrderID = 64

    /// Get App Transaction Info.
    func appTransactionInfo(
        _ identifier: String, _ app: RegisteredApp, _ call: Call
    ) throws(Refusal) -> OutgoingResponse {
        let payload = try state.withContent { content throws(Refusal) in
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
    func orderLookup(_ identifier: String, _ app: RegisteredApp, _ call: Call) throws(Refusal) -> OutgoingResponse {
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
        _ identifier: String, _ app: RegisteredApp, _ call: Call
    ) throws(Refusal) -> OutgoingResponse {
        let record = try state.withContent { content throws(Refusal) in
            try content.world.purchaseToTie(identifier, of: inEnvironment(app))
        }
        let token = try members(of: call)["appAccountToken"]?.string.flatMap { UUID(uuidString: $0) }
        guard let token else { throw .error(.invalidAppAccountTokenUUID) }
        state.withContent { $0.world.setAppAccountToken(token.uuidString.lowercased(), of: record) }
        return OutgoingResponse(status: 200)
    }

    /// Finish Transaction.
    func finishTransaction(_ identifier: String, _ app: RegisteredApp) throws(Refusal) -> OutgoingResponse {
        try state.withContent { content throws(Refusal) in
            _ = try content.world.transaction(identifier, bundleID: app.bundleID, environment: environment)
            content.world.finished.insert(identifier)
        }
        return OutgoingResponse(status: 200)
    }

    /// Signs a payload that is not a transaction, with what a fault wants wrong about the signature.
    func sign(_ payload: [UInt8], _ call: Call) throws(Refusal) -> String {
        do throws(OpenSSLError) {
            guard let tampering = call.tampering else { return try authority.sign(payload) }
            return try authority.sign(payload, at: call.time, tampering)
        } catch {
            throw .error(.generalInternal, message: "signing failed: \(error)")
        }
    }
}
