package import Foundation

/// Which refund requests a report is about, and what they are told apart by.
package struct RefundReportQuery: Sendable, Hashable {
    /// The most rows of a report, which bounds the memory that making one takes, however many cases it is about.
    package static let maximumRows = 10_000

    /// What requests can be grouped by; the raw value is the name in our API.
    package enum Dimension: String, Sendable, CaseIterable {
        case productID = "productId"
        /// Apple's `consumptionRequestReason`.
        case reason
        /// What the accepted answer preferred.
        case refundPreference
        /// The rule of the app's policy that gave the accepted answer, or by which there is none.
        case policyRule
        /// Apple's code of the storefront, such as `DEU`.
        case storefront
        /// The week of ISO 8601 in which Apple signed the request, in UTC, such as `2026-W05`.
        case week
    }

    package var environment: AppStoreEnvironment
    /// Requests that Apple signed at this time or later; nil for all that are kept.
    package var from: Date?
    /// Requests that Apple signed before this time; nil for all that are kept.
    package var to: Date?
    /// None for one group of all.
    package var groupBy: Set<Dimension> = []

    package init(environment: AppStoreEnvironment) { self.environment = environment }

    /// What it is grouped by, in the order in which a report tells it.
    package var dimensions: [Dimension] { Dimension.allCases.filter(groupBy.contains) }
}

/// What became of an app's refund requests.
package struct RefundReport: Sendable, Equatable {
    /// The requests of one group that were paid for in one currency; each request is in one row.
    package struct Row: Sendable, Equatable {
        package let key: Key
        package var figures: RefundFigures
    }

    package struct Key: Sendable, Hashable {
        /// One for each dimension of the query, in its order; nil where it is not known or there is none.
        package let values: [String?]
        /// Nil for requests about purchases whose price Apple did not tell.
        package let currency: String?

        package init(values: [String?], currency: String?) {
            self.values = values
            self.currency = currency
        }
    }

    /// By key in ascending order of bytes, what is not known first, so that the rows of a group follow one another.
    package let rows: [Row]

    package init(rows: [Row]) { self.rows = rows }

    /// The rows of each group, in their order.
    package var groups: [ArraySlice<Row>] {
        var groups: [ArraySlice<Row>] = []
        var start = rows.startIndex
        while start < rows.endIndex {
            let end = rows[start...].firstIndex { $0.key.values != rows[start].key.values } ?? rows.endIndex
            groups.append(rows[start..<end])
            start = end
        }
        return groups
    }
}

extension RefundReport.Key: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        for (first, second) in zip(left.values + [left.currency], right.values + [right.currency])
        where first != second {
            guard let first, let second else { return first == nil }
            return first.utf8.lexicographicallyPrecedes(second.utf8)
        }
        return false
    }
}

/// Counts and sums over refund requests.
///
/// `requests` is `open` + `answeredInTime` + `answeredLate` + all of `silent`; and it is all of `outcomes` + `undecided`.
package struct RefundFigures: Sendable, Equatable {
    package var requests = 0
    /// Apple waits for an answer, or one is on its way.
    package var open = 0
    /// Apple accepted an answer by the deadline.
    package var answeredInTime = 0
    package var answeredLate = 0
    /// It is over, and Apple has accepted no answer.
    package var silent: [RefundSilence: Int] = [:]
    /// What Apple decided.
    package var outcomes: [RefundCase.Outcome: Int] = [:]
    /// Refunds of less than the whole price; those that Apple took back do not count.
    package var proratedRefunds = 0
    /// The sum of the parts that were given back, in milliunits: 100,000 for each refund of the whole price.
    package var revocationPercentages: Int128 = 0
    /// The sum of the prices that the requests are about, in thousandths of the currency.
    package var requestedAmount: Int128 = 0
    /// The sum of what was refunded of them, each rounded to the nearest thousandth.
    package var refundedAmount: Int128 = 0

    package init() {}

    /// Requests that Apple has not decided about, as far as it has told.
    package var undecided: Int { requests - outcomes.values.reduce(0, +) }

    package var silentRequests: Int { silent.values.reduce(0, +) }

    /// Which part of a price was given back on the average, in milliunits, rounded; nil without refunds.
    package var meanRevocationPercentage: Int? {
        guard let refunds = outcomes[.refunded].map({ Int128($0) }), refunds > 0 else { return nil }
        return Int((revocationPercentages + refunds / 2) / refunds)
    }

    /// The figures of both together; amounts mean something only where both are of one currency.
    package static func + (left: RefundFigures, right: RefundFigures) -> RefundFigures {
        var sum = left
        sum.requests += right.requests
        sum.open += right.open
        sum.answeredInTime += right.answeredInTime
        sum.answeredLate += right.answeredLate
        sum.silent.merge(right.silent, uniquingKeysWith: +)
        sum.outcomes.merge(right.outcomes, uniquingKeysWith: +)
        sum.proratedRefunds += right.proratedRefunds
        sum.revocationPercentages += right.revocationPercentages
        sum.requestedAmount += right.requestedAmount
        sum.refundedAmount += right.refundedAmount
        return sum
    }
}

/// Why Apple got no answer to a refund request that is over; of several, the first of these.
package enum RefundSilence: String, Sendable, CaseIterable {
    /// A caller declined to answer.
    case declined
    /// A rule of the app's policy says that it is not answered.
    case declinedByPolicy
    /// The last answer ended because consent stood against it.
    case consentWithdrawn
    /// Apple refused the last answer for good.
    case refusedByApple
    /// The last answer was still on its way when its deadline passed.
    case deadlineExceeded
    /// A caller took the last answer back, or its user was erased.
    case cancelled
    /// Nobody knew whose the purchase is.
    case ownerUnknown
    /// Apple decided before the deadline, and before anybody had answered.
    case decidedFirst
    /// The deadline passed and nobody had answered.
    case unanswered
}
