package import Foundation

/// What a report looks at of a refund case.
package struct RefundReportEntry: Sendable {
    /// An answer that was sent, or was to be.
    package struct Answer: Sendable {
        package let state: Delivery.State
        package let endedAt: Date?
        /// Why it ended; nil where it was accepted or goes on.
        package let failure: ServiceError.Reason?
        package let refundPreference: ConsumptionV2.RefundPreference?
        package let policyRule: String?

        package init(
            state: Delivery.State, endedAt: Date?, failure: ServiceError.Reason? = nil,
            refundPreference: ConsumptionV2.RefundPreference? = nil, policyRule: String? = nil
        ) {
            self.state = state
            self.endedAt = endedAt
            self.failure = failure
            self.refundPreference = refundPreference
            self.policyRule = policyRule
        }
    }

    package var state: RefundCase.State
    package var requestedAt: Date
    package var deadline: Date
    package var productID: String?
    package var reason: String?
    package var terms = PurchaseTerms()
    package var isOwnerKnown = false
    /// The decision not to answer.
    package var decline: RefundCase.Decline?
    package var outcome: RefundCase.Outcome?
    package var decidedAt: Date?
    /// The part of the price that Apple gave back, in milliunits; nil where Apple did not tell, as of refunds of the whole.
    package var revocationPercentage: Int32?
    /// In the order in which they were made.
    package var answers: [Answer] = []

    package init(state: RefundCase.State, requestedAt: Date, deadline: Date) {
        self.state = state
        self.requestedAt = requestedAt
        self.deadline = deadline
    }
}

/// Decides what a refund case counts as in a report.
///
/// Pure, so that every store gives the same report.
package enum RefundReportRules {
    /// Each case has exactly one.
    package enum Fate: Sendable, Equatable {
        case open
        case answeredInTime
        case answeredLate
        case silent(RefundSilence)
    }

    /// The answer that Apple went by: of several that it accepted, the latest.
    package static func accepted(_ entry: RefundReportEntry) -> RefundReportEntry.Answer? {
        var latest: RefundReportEntry.Answer?
        for answer in entry.answers where answer.state == .accepted {
            if let known = latest?.endedAt, let ended = answer.endedAt, ended < known { continue }
            latest = answer
        }
        return latest
    }

    /// What became of the answer to a case.
    package static func fate(of entry: RefundReportEntry) -> Fate {
        if let accepted = accepted(entry) {
            return accepted.endedAt.map { $0 <= entry.deadline } ?? true ? .answeredInTime : .answeredLate
        }
        switch entry.state {
        case .open: return .open
        // The answer itself is not kept any more.
        case .answered: return .answeredInTime
        case .declined, .expired, .decided: break
        }
        if let decline = entry.decline {
            return .silent(decline.caller == RefundPolicy.caller ? .declinedByPolicy : .declined)
        }
        guard let last = entry.answers.last else { return .silent(silence(withoutAnswer: entry)) }
        switch last.state {
        // What is being sent when its case ends, ends with its attempt.
        case .queued, .sending, .accepted: return .open
        case .refused: return .silent(.refusedByApple)
        case .expired: return .silent(.deadlineExceeded)
        case .cancelled: return .silent(silence(afterCancellation: last.failure))
        }
    }

    private static func silence(withoutAnswer entry: RefundReportEntry) -> RefundSilence {
        if !entry.isOwnerKnown { return .ownerUnknown }
        if let decidedAt = entry.decidedAt, decidedAt < entry.deadline { return .decidedFirst }
        return .unanswered
    }

    private static func silence(afterCancellation reason: ServiceError.Reason?) -> RefundSilence {
        switch reason {
        case .consentWithdrawn: .consentWithdrawn
        case .caseClosed: .decidedFirst
        default: .cancelled
        }
    }

    /// The rule of the app's policy that answered, or by which nobody did.
    static func policyRule(of entry: RefundReportEntry) -> String? {
        switch fate(of: entry) {
        case .answeredInTime, .answeredLate: accepted(entry)?.policyRule
        // A policy declines with the name of its rule as its reason.
        case .silent(.declinedByPolicy): entry.decline?.note
        case .open, .silent: nil
        }
    }

    /// What of a price was refunded, rounded to the nearest thousandth of the currency.
    ///
    /// `percentage`: in milliunits.
    static func refunded(_ percentage: Int32, of price: Int128) -> Int128 {
        let whole = Int128(ConsumptionRules.wholePercentage)
        return (price * Int128(percentage) + whole / 2) / whole
    }
}

/// Makes a report out of cases, one after the other: what it keeps grows with the rows of the report, not with the cases.
package struct RefundReportBuilder {
    private let dimensions: [RefundReportQuery.Dimension]
    private var rows: [RefundReport.Key: RefundFigures] = [:]
    private var weeks = ISOWeeks()

    package init(_ query: RefundReportQuery) { dimensions = query.dimensions }

    /// Counts a case.
    ///
    /// - Throws: `invalidRequest` when the report would have more rows than it may.
    package mutating func add(_ entry: RefundReportEntry) throws(ServiceError) {
        // An amount without currency means nothing.
        let currency = entry.terms.price == nil ? nil : entry.terms.currency
        let values = dimensions.map { dimension in
            switch dimension {
            case .productID: entry.productID
            case .reason: entry.reason
            case .refundPreference: RefundReportRules.accepted(entry)?.refundPreference?.rawValue
            case .policyRule: RefundReportRules.policyRule(of: entry)
            case .storefront: entry.terms.storefront
            case .week: weeks.name(of: entry.requestedAt)
            }
        }
        let price = currency == nil ? 0 : entry.terms.price ?? 0
        rows[RefundReport.Key(values: values, currency: currency), default: RefundFigures()].count(
            entry, price: Int128(price))
        guard rows.count <= RefundReportQuery.maximumRows else { throw tooManyRows }
    }

    /// The report of what has been counted.
    package func report() -> RefundReport {
        RefundReport(
            rows: rows.map { RefundReport.Row(key: $0.key, figures: $0.value) }.sorted { $0.key < $1.key })
    }

    private var tooManyRows: ServiceError {
        let names = dimensions.map { "`\($0.rawValue)`" } + ["currency"]
        return .invalid([
            Violation(
                field: "groupBy", rule: "count",
                message:
                    "The report would have more than \(RefundReportQuery.maximumRows) rows, one for each combination of \(names.joined(separator: ", ")) that there is; give `from` and `to` closer together, or group by less."
            )
        ])
    }
}

extension RefundFigures {
    /// Counts a case; `price`: in thousandths of the currency of these figures.
    fileprivate mutating func count(_ entry: RefundReportEntry, price: Int128) {
        requests += 1
        switch RefundReportRules.fate(of: entry) {
        case .open: open += 1
        case .answeredInTime: answeredInTime += 1
        case .answeredLate: answeredLate += 1
        case .silent(let silence): silent[silence, default: 0] += 1
        }
        requestedAmount += price
        guard let outcome = entry.outcome else { return }
        outcomes[outcome, default: 0] += 1
        guard outcome == .refunded else { return }
        let percentage = entry.revocationPercentage ?? ConsumptionRules.wholePercentage
        if percentage < ConsumptionRules.wholePercentage { proratedRefunds += 1 }
        revocationPercentages += Int128(percentage)
        refundedAmount += RefundReportRules.refunded(percentage, of: price)
    }
}

/// Names of weeks by ISO 8601, such as `2026-W05`: each begins on Monday and is of the year of its Thursday.
struct ISOWeeks {
    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// Asking the calendar for each of a million cases would take longer than everything else.
    private var names: [Int: String] = [:]

    /// The week of a time, in UTC.
    mutating func name(of date: Date) -> String {
        // 1970 began on a Thursday, three days after the Monday of its week.
        let week = Int(((date.timeIntervalSince1970 / 86_400 + 3) / 7).rounded(.down))
        if let name = names[week] { return name }
        let parts = Self.calendar.dateComponents([.yearForWeekOfYear, .weekOfYear], from: date)
        func padded(_ number: Int?, _ width: Int) -> String {
            let digits = String(number ?? 0)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let name = "\(padded(parts.yearForWeekOfYear, 4))-W\(padded(parts.weekOfYear, 2))"
        names[week] = name
        return name
    }
}
