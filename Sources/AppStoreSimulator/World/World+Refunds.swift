import AppStoreAPI

extension World {
    /// Refunds a purchase, all its transaction ids included; family members lose their access to it.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction id of the purchase.
    ///   - refund: what to say about it.
    ///   - now: UNIX milliseconds; the revocation date unless one is given.
    /// - Returns: The transaction as it is now.
    /// - Throws: ``ControlError``
    mutating func refund(
        _ transactionID: String, _ refund: Refund, now: Int64
    ) throws(ControlError) -> TransactionPayload {
        let record = try record(transactionID)
        guard record.payload.inAppOwnershipType == .purchased else {
            throw .conflict("a family member cannot have a refund; refund the purchaser's transaction")
        }
        guard record.payload.revocationDate == nil else { throw .conflict("it is refunded already") }
        let percentage = try refund.checkedPercentage()
        let date = refund.date ?? now
        for sibling in siblings(of: record) {
            guard let id = sibling.payload.transactionId else { continue }
            modify(id) { payload in
                payload.revocationDate = date
                payload.revocationReason = refund.reason
                payload.revocationType = percentage == Refund.whole ? .refundFull : .refundProrated
                payload.revocationPercentage = percentage
            }
        }
        for share in shares(of: record) {
            modify(share) { payload in
                payload.revocationDate = date
                payload.revocationReason = .otherReason
                payload.revocationType = .familyRevoke
            }
        }
        return try self.record(transactionID).payload
    }

    /// Takes a refund back: what told of it vanishes from the purchase, and from those that share it.
    mutating func reverseRefund(_ transactionID: String) throws(ControlError) -> TransactionPayload {
        let record = try record(transactionID)
        guard record.isRefunded else { throw .conflict("it is not refunded") }
        let ids = siblings(of: record).compactMap(\.payload.transactionId) + shares(of: record)
        for id in ids { modify(id) { $0.clearRevocation() } }
        return try self.record(transactionID).payload
    }

    /// The transaction ids of others who share this purchase.
    private func shares(of record: TransactionRecord) -> [String] {
        let ids = Set(siblings(of: record).compactMap(\.payload.transactionId))
        return records.values.filter { share in share.sharedFrom.map(ids.contains) ?? false }
            .sorted { $0.modification < $1.modification }.compactMap(\.payload.transactionId)
    }
}

extension TransactionPayload {
    /// Removes all that tells of a refund.
    mutating func clearRevocation() {
        revocationDate = nil
        revocationReason = nil
        revocationType = nil
        revocationPercentage = nil
    }
}
