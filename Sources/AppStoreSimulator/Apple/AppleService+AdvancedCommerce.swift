import AppStoreAPI
import Foundation
import OpenSSL

extension AppleService {
    /// Any server call of the Advanced Commerce API.
    func advancedCommerce(
        _ operation: Endpoint.Operation, _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let members = try members(of: call)
        let about = SimulatorState.Content.AdvancedCommerceCall(
            operation: operation, transactionID: identifier,
            app: AppInEnvironment(bundleID: app.bundleID, environment: environment), now: call.milliseconds)
        let (transaction, renewalInfo) = try state.withContent { content throws(AppleServiceError) in
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
        _ transaction: TransactionPayload, _ renewalInfo: RenewalInfoPayload?, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
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

/// What Apple demands of the bodies of Advanced Commerce calls; all that is wrong is a GeneralBadRequestError, since Apple
/// publishes no numbers for them.
///
/// Source: https://developer.apple.com/documentation/advancedcommerceapi
enum AdvancedCommerceRules {
    private static let longestDescription = 45
    private static let longestDisplayName = 30
    private static let longestSKU = 128

    // MARK: Requests

    static func check(_ request: AdvancedCommerceRequestRefundRequest) throws(AppleServiceError) {
        try require(request, "the request")
        try check(request.requestInfo, storefront: request.storefront, currency: request.currency)
        for item in try filled(request.items, "items") {
            try require(item, "an item")
            try check(sku: item.sku)
            try check(known: item.refundReason, "refundReason")
            try check(known: item.refundType, "refundType")
            guard item.refundType != .custom || (item.refundAmount ?? 0) > 0 else {
                throw refusal("a CUSTOM refund needs a positive refundAmount")
            }
        }
    }

    static func check(_ request: AdvancedCommerceSubscriptionCancelRequest) throws(AppleServiceError) {
        try check(request.requestInfo, storefront: request.storefront)
    }

    static func check(_ request: AdvancedCommerceSubscriptionRevokeRequest) throws(AppleServiceError) {
        try require(request, "the request")
        try check(request.requestInfo, storefront: request.storefront)
        try check(known: request.refundReason, "refundReason")
        try check(known: request.refundType, "refundType")
        guard request.refundType != .custom else { throw refusal("a revocation is refunded FULL or PRORATED") }
    }

    static func check(_ request: AdvancedCommerceSubscriptionChangeMetadataRequest) throws(AppleServiceError) {
        try check(request.requestInfo, storefront: request.storefront)
        guard request.descriptors != nil || request.items != nil || request.taxCode != nil else {
            throw refusal("there is nothing to change")
        }
        if let descriptors = request.descriptors {
            try require(descriptors, "descriptors")
            try check(known: descriptors.effective, "effective")
            try check(descriptors.description, descriptors.displayName)
        }
        guard request.items != nil else { return }
        for item in try filled(request.items, "items") {
            try require(item, "an item")
            try check(known: item.effective, "effective")
            try check(sku: item.currentSKU)
            try check(sku: item.sku)
            try check(item.description, item.displayName)
        }
    }

    static func check(_ request: AdvancedCommerceSubscriptionPriceChangeRequest) throws(AppleServiceError) {
        try check(request.requestInfo, storefront: request.storefront, currency: request.currency)
        for item in try filled(request.items, "items") {
            try require(item, "an item")
            try check(sku: item.sku)
            guard let price = item.price, price >= 0 else { throw refusal("price must not be negative") }
            for sku in item.dependentSKUs ?? [] { try check(sku: sku) }
        }
    }

    static func check(_ request: AdvancedCommerceSubscriptionMigrateRequest) throws(AppleServiceError) {
        try require(request, "the request")
        try check(request.requestInfo, storefront: request.storefront)
        try check(request.descriptors?.description, request.descriptors?.displayName)
        for item in try filled(request.items, "items") {
            try require(item, "an item")
            try check(sku: item.sku)
            try check(item.description, item.displayName)
        }
        guard request.renewalItems != nil else { return }
        for item in try filled(request.renewalItems, "renewalItems") {
            try require(item, "a renewal item")
            try check(sku: item.sku)
            try check(item.description, item.displayName)
        }
    }

    // MARK: Parts

    static func refusal(_ message: String) -> AppleServiceError { .error(.generalBadRequest, message: message) }

    private static func check(
        _ info: AdvancedCommerceRequestInfo?, storefront: String?, currency: String? = nil
    ) throws(AppleServiceError) {
        guard let reference = info?.requestReferenceId, UUID(uuidString: reference) != nil else {
            throw refusal("requestInfo.requestReferenceId must be a UUID")
        }
        guard info?.appAccountToken.map({ UUID(uuidString: $0) != nil }) ?? true else {
            throw refusal("requestInfo.appAccountToken must be a UUID")
        }
        for (name, code) in [("storefront", storefront), ("currency", currency)] {
            guard code.map({ $0.count == 3 && $0.allSatisfy { $0.isASCII && $0.isUppercase } }) ?? true else {
                throw refusal("\(name) must be three capital letters")
            }
        }
    }

    /// What is missing, or of another type than Apple's.
    private static func require(_ model: some WireModel, _ name: String) throws(AppleServiceError) {
        guard let field = model.missingFields.first else { return }
        throw refusal("\(field) of \(name) is missing or has the wrong type")
    }

    private static func filled<Item>(_ items: [Item]?, _ name: String) throws(AppleServiceError) -> [Item] {
        guard let items, !items.isEmpty else { throw refusal("\(name) must not be empty") }
        return items
    }

    private static func check(known value: (some OpenValue<String>)?, _ name: String) throws(AppleServiceError) {
        guard value?.isKnown ?? true else { throw refusal("\(name) is not one of Apple's values") }
    }

    private static func check(sku: String?) throws(AppleServiceError) {
        guard sku.map({ 1...longestSKU ~= $0.count }) ?? true else {
            throw refusal("a SKU has 1 to \(longestSKU) characters")
        }
    }

    private static func check(_ description: String?, _ displayName: String?) throws(AppleServiceError) {
        guard description?.count ?? 0 <= longestDescription else {
            throw refusal("description is longer than \(longestDescription) characters")
        }
        guard displayName?.count ?? 0 <= longestDisplayName else {
            throw refusal("displayName is longer than \(longestDisplayName) characters")
        }
    }
}
