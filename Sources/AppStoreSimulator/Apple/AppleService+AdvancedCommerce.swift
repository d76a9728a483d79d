import AppStoreAPI
import Foundation
import OpenSSL

extension AppleService {
    /// Any server call of the Advanced Commerce API.
    func advancedCommerce(
        _ operation: Endpoint.Operation, _ identifier: String, _ app: RegisteredApp, _ call: Call
    ) throws(Refusal) -> OutgoingResponse {
        let members = try members(of: call)
        let about = SimulatorState.Content.AdvancedCommerceCall(
            operation: operation, transactionID: identifier,
            app: AppInEnvironment(bundleID: app.bundleID, environment: environment), now: call.milliseconds)
        let (transaction, renewalInfo) = try state.withContent { content throws(Refusal) in
            let record: TransactionRecord
            switch operation {
            case .requestRefund:
                let request = AdvancedCommerceRequestRefundRequest(members)
                try AdvancedCommerceRules.check(request)
                record = try content.requestRefund(request, about)
            case .cancelSubscription:
                let request = AdvancedCommerceSubscriptionCancelRequest(members)
                try AdvancedCommerceRules.check(request)
                record = try content.cancel(request, about)
            case .revokeSubscription:
                let request = AdvancedCommerceSubscriptionRevokeRequest(members)
                try AdvancedCommerceRules.check(request)
                record = try content.revoke(request, about)
            case .changeSubscriptionMetadata:
                let request = AdvancedCommerceSubscriptionChangeMetadataRequest(members)
                try AdvancedCommerceRules.check(request)
                record = try content.changeMetadata(request, about)
            case .changeSubscriptionPrice:
                let request = AdvancedCommerceSubscriptionPriceChangeRequest(members)
                try AdvancedCommerceRules.check(request)
                record = try content.changePrice(request, about)
            case .migrateSubscription:
                let request = AdvancedCommerceSubscriptionMigrateRequest(members)
                try AdvancedCommerceRules.check(request)
                record = try content.migrate(request, about)
            default:
                throw .malformed(status: 404, "not a call of this API")
            }
            return (record.payload, content.renewalInfo(of: record, at: call.milliseconds))
        }
        state.agendaChanged()
        return try advancedCommerceAnswer(transaction, renewalInfo, call)
    }

    /// The answer of all these calls has the same two members.
    private func advancedCommerceAnswer(
        _ transaction: TransactionPayload, _ renewalInfo: RenewalInfoPayload?, _ call: Call
    ) throws(Refusal) -> OutgoingResponse {
        var response = AdvancedCommerceRequestRefundResponse()
        do throws(OpenSSLError) {
            if let tampering = call.tampering {
                response.signedTransactionInfo = try authority.sign(transaction, at: call.time, tampering)
            } else {
                response.signedTransactionInfo = try authority.sign(transaction, at: call.time)
            }
            if var renewalInfo {
                renewalInfo.signedDate = call.milliseconds
                response.signedRenewalInfo = try authority.sign(renewalInfo.serialized())
            }
        } catch {
            throw .error(.generalInternal, message: "signing failed: \(error)")
        }
        return .json(200, response.serialized())
    }
}
