package import Foundation

/// What a service has reported of the use of a purchase: the whole of what it knew at one time.
package struct UsageReport: Sendable, Equatable {
    /// What a report is about.
    package enum Subject: Sendable, Hashable {
        /// One purchase; the user is the one with whom it is erased, if its caller named one.
        case transaction(String, user: UserID?)
        /// What a user has bought of a product: which purchase that is, the owner rule tells when it is needed.
        case product(String, user: UserID)
    }

    package let app: String
    package var subject: Subject
    /// The environment of the purchase; nil where the caller did not say.
    package let environment: AppStoreEnvironment?
    package let facts: UsageFacts
    /// When all of that was so, by the caller's account.
    package let at: Date
    package let recordedAt: Date
    /// The caller that reported it.
    package let recordedBy: String

    package init(
        app: String, subject: Subject, environment: AppStoreEnvironment?, facts: UsageFacts, at: Date, recordedAt: Date,
        recordedBy: String
    ) {
        self.app = app
        self.subject = subject
        self.environment = environment
        self.facts = facts
        self.at = at
        self.recordedAt = recordedAt
        self.recordedBy = recordedBy
    }
}

extension UsageReport.Subject {
    /// The user that it names.
    package var user: UserID? {
        switch self {
        case .transaction(_, let user): user
        case .product(_, let user): user
        }
    }

    /// The same, with a user that was named before where it names none.
    func named(by known: Self) -> Self {
        if case .transaction(let identifier, nil) = self { .transaction(identifier, user: known.user) } else { self }
    }
}

/// Keeps what services report of the use of purchases.
///
/// Each method is one atomic operation; what it promises is on disk when it returns. Every method throws `storeUnavailable`.
/// Times of day are whole milliseconds, as `ServiceClock` tells them. A user's id that is a UUID comes back in lower case.
package protocol UsageStore: Sendable {
    /// Applies `UsageRules.decide` to one report after the other and returns the decisions, carried out: the end is that of as
    /// many operations, and all of it is one.
    func recordUsage(_ reports: [UsageReport]) async throws(ServiceError) -> [UsageRules.Decision]

    /// What is known of the use of a purchase: by the purchase as far as it is known here, and `UsageRules`.
    func usage(of subject: ConsentSubject) async throws(ServiceError) -> UsageReport?

    /// The reports that name a user, in the order in which the first of each subject was recorded.
    ///
    /// `position`: behind which the list begins; nil for its start.
    func usage(
        app: String, user: UserID, after position: Int64?, limit: Int
    ) async throws(ServiceError) -> [(position: Int64, report: UsageReport)]
}
