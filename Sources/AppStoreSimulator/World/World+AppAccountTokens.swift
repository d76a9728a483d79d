import AppStoreAPI

extension World {
    /// Finds the purchase whose token a call sets.
    ///
    /// - Throws: 4000006, 4000048, 4040005, 4000187 or 4000185.
    func purchaseToTie(_ identifier: String, of app: AppInEnvironment) throws(Refusal) -> TransactionRecord {
        let record: TransactionRecord
        do throws(Refusal) {
            record = try transaction(identifier, bundleID: app.bundleID, environment: app.environment)
        } catch {
            throw error == .error(.transactionIdNotFound) ? .error(.originalTransactionIdNotFound) : error
        }
        guard record.payload.originalTransactionId == identifier else {
            throw .error(.transactionIdIsNotOriginalTransactionId)
        }
        guard record.payload.inAppOwnershipType != .familyShared else { throw .error(.familyTransactionNotSupported) }
        return record
    }

    /// Ties a purchase to an app's user: of a subscription the present period, and thereby the later ones.
    mutating func setAppAccountToken(_ token: String, of original: TransactionRecord) {
        for id in siblings(of: latestPeriod(of: original) ?? original) {
            modify(id) { $0.appAccountToken = token }
        }
    }
}
