import Foundation

/// Which report of a purchase's use stands, and which purchase a report speaks of.
package enum UsageRules {
    /// What becomes of a report.
    package enum Decision: Sendable, Equatable {
        /// Nothing was known of its subject.
        case insert(UsageReport)
        /// It stands in the place of an earlier one.
        case replace(UsageReport)
        /// It says what the one that stands says.
        case keep(UsageReport)
        /// The one that stands is newer.
        case outdated(by: UsageReport)

        /// The report that stands now.
        package var standing: UsageReport {
            switch self {
            case .insert(let report), .replace(let report), .keep(let report), .outdated(let report): report
            }
        }
    }

    /// Decides between a report and the one that stands for the same subject in the same environment.
    ///
    /// The newest time wins, in whatever order they come. Of two with the same time nothing but their receipt here tells which
    /// is meant: the later one corrects the other. A report is the whole of what is known: what it leaves out is not known any
    /// more. Only the user whom an earlier one named stays named, so that an erasure finds it.
    package static func decide(_ report: UsageReport, standing: UsageReport?) -> Decision {
        guard let standing else { return .insert(report) }
        guard report.at >= standing.at else { return .outdated(by: standing) }
        var report = report
        report.subject = report.subject.named(by: standing.subject)
        let isSame = report.at == standing.at && report.facts == standing.facts && report.subject == standing.subject
        return isSame ? .keep(standing) : .replace(report)
    }

    /// The report that counts out of those of one purchase: the newest of its environment or of one not told.
    ///
    /// `reports`: those that name the purchase most closely first. `environment`: nil where it is not known; then Production comes before the Sandbox, as everywhere.
    package static func newest(_ reports: [UsageReport], in environment: AppStoreEnvironment?) -> UsageReport? {
        for environment in environment.map({ [$0] }) ?? [.production, .sandbox] {
            let candidates = reports.filter { $0.environment == nil || $0.environment == environment }
            // Of several with one time the first of those that name their environment.
            let newest = candidates.max {
                ($0.at, $0.environment == nil ? 0 : 1) < ($1.at, $1.environment == nil ? 0 : 1)
            }
            if let newest { return newest }
        }
        return nil
    }

    /// Whether a report about a user's product can speak of a purchase: it must be of the time when that one was the user's
    /// latest as far as it tells itself, neither before it nor after its period.
    package static func canSpeak(_ report: UsageReport, of purchase: PurchaseFacts) -> Bool {
        report.at >= purchase.purchaseDate && purchase.expiresDate.map { report.at < $0 } ?? true
    }
}
