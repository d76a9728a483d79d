package import Domain

extension DeliveryDraft {
    /// An answer that is queued at hour zero of `CaseDesk.time` and due by hour twelve, with what a test cares about.
    package static func sample(
        _ id: String, caseID: String? = nil, transaction: String = "1000", user: String? = nil,
        purchase: PurchaseFacts? = nil, environment: AppStoreEnvironment? = .production, app: String = "coins",
        body: String = "{}", at hour: Double = 0, due: Double? = nil, deadline: Double = 12, key: IdempotencyKey? = nil,
        digest: [UInt8] = [1]
    ) throws -> DeliveryDraft {
        let delivery = Delivery(
            id: id, app: app, caseID: caseID, user: try user.map(UserID.init), caller: "shop",
            transactionID: transaction, environment: environment, purchase: purchase, version: .v2,
            body: Array(body.utf8), createdAt: CaseDesk.time(hour), deadline: CaseDesk.time(deadline),
            nextAttemptAt: CaseDesk.time(due ?? hour))
        return DeliveryDraft(
            delivery: delivery, idempotencyKey: key, requestDigest: digest, subject: ConsentSubject(delivery))
    }
}
