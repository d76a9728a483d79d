package import AppStoreAPI

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
            modify(sibling) { payload in
                payload.revocationDate = date
                payload.revocationReason = refund.reason
                payload.revocationType = percentage == Refund.whole ? .refundFull : .refundProrated
                payload.revocationPercentage = percentage
            }
        }
        emit(.refund, about: transactionID, at: now)
        for share in shares(of: record) where records[share]?.payload.revocationDate == nil {
            endSharing(share, on: date, now: now)
        }
        return try self.record(transactionID).payload
    }

    /// Ends a family member's access to a purchase that they did not make.
    ///
    /// - Parameters:
    ///   - transactionID: any of the member's transaction ids of the purchase.
    ///   - now: UNIX milliseconds; the revocation date.
    /// - Returns: The transaction as it is now.
    /// - Throws: ``ControlError``
    mutating func endSharing(_ transactionID: String, now: Int64) throws(ControlError) -> TransactionPayload {
        let record = try record(transactionID)
        guard record.payload.inAppOwnershipType == .familyShared else {
            throw .conflict("it is not shared; refund it instead")
        }
        guard record.payload.revocationDate == nil else { throw .conflict("it is not shared any more") }
        for sibling in siblings(of: record) {
            endSharing(sibling, on: now, now: now)
        }
        return try self.record(transactionID).payload
    }

    private mutating func endSharing(_ transactionID: String, on date: Int64, now: Int64) {
        modify(transactionID) { payload in
            payload.revocationDate = date
            payload.revocationReason = .otherReason
            payload.revocationType = .familyRevoke
        }
        emit(.revoke, about: transactionID, at: now)
    }

    /// Takes a refund back: what told of it vanishes from the purchase, and from those that share it.
    ///
    /// - Throws: ``ControlError``
    mutating func reverseRefund(_ transactionID: String, now: Int64) throws(ControlError) -> TransactionPayload {
        let record = try record(transactionID)
        guard record.isRefunded else { throw .conflict("it is not refunded") }
        let ids = siblings(of: record) + shares(of: record)
        for id in ids { modify(id) { $0.clearRevocation() } }
        emit(.refundReversed, about: transactionID, at: now)
        return try self.record(transactionID).payload
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

/// What Apple says about a refund.
package struct Refund: Sendable, Hashable {
    /// 100 % in milliunits.
    package static let whole: Int32 = 100_000

    package var reason: RevocationReason
    /// In milliunits: ``whole`` is a full refund, less a prorated one.
    package var percentage: Int32
    /// UNIX milliseconds; nil stands for now.
    package var date: Int64?

    package init(reason: RevocationReason = .otherReason, percentage: Int32 = whole, date: Int64? = nil) {
        self.reason = reason
        self.percentage = percentage
        self.date = date
    }

    func checkedPercentage() throws(ControlError) -> Int32 {
        guard 1...Self.whole ~= percentage else { throw .invalid("percentage must be 1 to \(Self.whole) milliunits") }
        return percentage
    }
}
