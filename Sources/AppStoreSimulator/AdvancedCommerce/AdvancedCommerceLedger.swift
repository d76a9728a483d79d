import AppStoreAPI

/// The Advanced Commerce requests that were carried out, and what they settled about renewals.
///
/// No clock, no signatures.
struct AdvancedCommerceLedger: Sendable {
    /// What a request was about, by which a repetition is told from a mix-up.
    struct Subject: Sendable, Hashable {
        let operation: Endpoint.Operation
        let transactionID: String
    }

    /// A request's identifier, which is its app's own.
    private struct Reference: Hashable {
        let app: AppInEnvironment
        let identifier: String
    }

    private var requests: [Reference: Subject] = [:]
    /// What is renewed, by original transaction id, where a request has settled it.
    var renewals: [String: AdvancedCommerceRenewalInfo] = [:]

    /// What a request that was carried out was about.
    func subject(of identifier: String, from app: AppInEnvironment) -> Subject? {
        requests[Reference(app: app, identifier: identifier.lowercased())]
    }

    /// Notes a request as carried out.
    mutating func note(_ identifier: String, from app: AppInEnvironment, about subject: Subject) {
        requests[Reference(app: app, identifier: identifier.lowercased())] = subject
    }
}

extension AdvancedCommerceTransactionInfo {
    /// Notes the refund of an item.
    mutating func refund(_ item: AdvancedCommerceRequestRefundItem, now: Int64) {
        items = items?.map { own in
            guard own.sku == item.sku else { return own }
            var own = own
            let refund = AdvancedCommerceRefund {
                $0.refundAmount = item.refundType == .custom ? item.refundAmount.map { Int64($0) } : own.price
                $0.refundDate = now
                $0.refundReason = item.refundReason
                $0.refundType = item.refundType
            }
            own.refunds = (own.refunds ?? []) + [refund]
            if item.revoke == true { own.revocationDate = now }
            return own
        }
    }

    /// Takes over what applies at once.
    mutating func change(_ request: AdvancedCommerceSubscriptionChangeMetadataRequest) {
        taxCode = request.taxCode ?? taxCode
        if let new = request.descriptors, new.effective == .immediately { descriptors?.change(new) }
        for new in request.items ?? [] where new.effective == .immediately {
            items = items?.map { own in
                guard own.sku == new.currentSKU else { return own }
                var own = own
                own.sku = new.sku ?? own.sku
                own.description = new.description ?? own.description
                own.displayName = new.displayName ?? own.displayName
                return own
            }
        }
    }
}

extension AdvancedCommerceRenewalInfo {
    /// What is renewed of a purchase that nobody has changed: the same again.
    init(_ info: AdvancedCommerceTransactionInfo?) {
        self.init()
        descriptors = info?.descriptors
        period = info?.period
        taxCode = info?.taxCode
        requestReferenceId = info?.requestReferenceId
        items = info?.items?.map { item in
            AdvancedCommerceRenewalItem {
                $0.sku = item.sku
                $0.description = item.description
                $0.displayName = item.displayName
                $0.offer = item.offer
                $0.price = item.price
            }
        }
    }

    /// Takes over all that is changed, since the next period is later than now.
    mutating func change(_ request: AdvancedCommerceSubscriptionChangeMetadataRequest) {
        taxCode = request.taxCode ?? taxCode
        if let new = request.descriptors { descriptors?.change(new) }
        for new in request.items ?? [] {
            items = items?.map { own in
                guard own.sku == new.currentSKU else { return own }
                var own = own
                own.sku = new.sku ?? own.sku
                own.description = new.description ?? own.description
                own.displayName = new.displayName ?? own.displayName
                return own
            }
        }
    }

    /// Takes over prices; those that rise wait for the customer's consent.
    mutating func change(_ request: AdvancedCommerceSubscriptionPriceChangeRequest) {
        for new in request.items ?? [] {
            items = items?.map { own in
                guard own.sku == new.sku, let price = new.price else { return own }
                var own = own
                if price > own.price ?? 0 {
                    own.priceIncreaseInfo = AdvancedCommercePriceIncreaseInfo {
                        $0.price = price
                        $0.status = .pending
                        $0.dependentSKUs = new.dependentSKUs
                    }
                } else {
                    own.price = price
                }
                return own
            }
        }
    }
}

extension AdvancedCommerceDescriptors {
    fileprivate mutating func change(_ new: AdvancedCommerceSubscriptionChangeMetadataDescriptors) {
        description = new.description ?? description
        displayName = new.displayName ?? displayName
    }
}
