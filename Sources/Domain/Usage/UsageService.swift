package import Foundation

/// Takes what services know of the use of purchases, and tells it again.
package struct UsageService: Sendable {
    /// The most reports of one operation, which bounds how long others wait for the store's one writer.
    package static let maximumBatch = 1000
    /// The most reports of one page.
    package static let maximumPageSize = 200

    private let store: any UsageStore
    private let now: WallClock

    package init(store: any UsageStore, now: @escaping WallClock) {
        self.store = store
        self.now = now
    }

    /// A report as it came in a request, of what could be read of it; every rule that it breaks is noted.
    ///
    /// `at`: when it was so; nil for now. `accountCreatedAt`: as it was read. `environment`: the purchase's; nil when it is not
    /// known. `caller`: who reports.
    ///
    /// - Returns: the report; nil without subject.
    package func report(
        _ subject: UsageReport.Subject?, app: App, environment: AppStoreEnvironment?, at: Date?,
        accountCreatedAt: Date?,
        caller: String, _ fields: inout FieldReader
    ) -> UsageReport? {
        let now = now()
        if let at, at > now.addingTimeInterval(FactRules.clockTolerance) {
            fields.note(
                "at", "future",
                "`at` lies in the future, where it would outdate every report until then; give the time in UTC or with its offset, or leave it out for now."
            )
        }
        let facts = UsageFacts(&fields, accountCreatedAt: accountCreatedAt, at: now)
        guard let subject else { return nil }
        return UsageReport(
            app: app.slug, subject: subject, environment: environment ?? LinkService.onlyEnvironment(of: app),
            facts: facts, at: at ?? now, recordedAt: now, recordedBy: caller)
    }

    /// What a report in a batch is about: a transaction, or a user's product; a user beside a transaction is the one with whom
    /// the report is erased.
    ///
    /// - Returns: the subject; nil, and noted, where a rule is broken.
    package static func subject(_ fields: inout FieldReader) -> UsageReport.Subject? {
        let user = user(&fields)
        let isOfTransaction = fields.holds("transactionId")
        let transaction = fields.identifier("transactionId", .transaction, in: .body, isRequired: false)
        guard !isOfTransaction else {
            fields.forbid(
                "productId", "ambiguous",
                "Give `transactionId`, or `user` and `productId`: the transaction tells its product itself.")
            return transaction.map { .transaction($0, user: user) }
        }
        let product = fields.identifier("productId", .product, in: .body, isRequired: false)
        if product == nil, !fields.isValidSoFar { return nil }
        guard let product, let user else {
            fields.note(
                "transactionId", "required",
                "Give `transactionId`, or both `user` and `productId`, so that the purchase can be told.")
            return nil
        }
        return .product(product, user: user)
    }

    /// The user whom a report names, if any.
    package static func user(_ fields: inout FieldReader) -> UserID? {
        fields.text("user").flatMap { text in
            fields.check { () throws(ServiceError) in try UserID(text) }
        }
    }

    /// Records reports in one operation; the same ones again change nothing.
    ///
    /// - Returns: what became of each, in their order.
    /// - Throws: `storeUnavailable`; nothing is changed then.
    package func record(_ reports: [UsageReport]) async throws(ServiceError) -> [UsageRules.Decision] {
        reports.isEmpty ? [] : try await store.recordUsage(reports)
    }

    /// What is known of the use of a transaction's purchase, with what it comes to in Apple's version 1 at this moment.
    ///
    /// - Throws: `usageNotFound`, `storeUnavailable`.
    package func usage(
        app: App, transactionID: String, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> (report: UsageReport, codes: UsageCodes) {
        let subject = ConsentSubject(
            app: app.slug, user: nil, transactionID: transactionID,
            environment: environment ?? LinkService.onlyEnvironment(of: app), purchase: nil)
        guard let report = try await store.usage(of: subject) else {
            throw ServiceError(
                .usageNotFound,
                "Nobody has reported the use of transaction `\(transactionID)`, nor of its product for its owner.")
        }
        return (report, UsageCodes(report.facts, at: now()))
    }

    /// The reports that name a user; `position`: behind which the list begins.
    ///
    /// - Throws: `storeUnavailable`.
    package func usage(
        app: App, user: UserID, after position: Int64?, limit: Int
    ) async throws(ServiceError) -> [(position: Int64, report: UsageReport)] {
        try await store.usage(app: app.slug, user: user, after: position, limit: limit)
    }
}
