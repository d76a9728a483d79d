import Domain
import Foundation
import GRDB
import TestSupport

@testable import StoreSQL
@testable import StoreSQLite

/// A made-up refund case of which it is told first what became of it, and then what stands in the tables.
struct GeneratedCase: Sendable {
    enum Story: Sendable, Hashable {
        case open
        /// The case is over while its answer is being sent.
        case onItsWay
        case answered
        /// Apple accepted two answers, both in time.
        case answeredTwice
        case answeredLate
        case silent(RefundSilence)
    }

    /// What stands in a row of `delivery`, with hours from the request on.
    private struct Answer {
        var state: Delivery.State
        var endedAt: Double?
        var failure: ServiceError.Reason?
        var preference: ConsumptionV2.RefundPreference?
        var rule: String?
    }

    private static let stories: [Story] =
        [.open, .onItsWay, .answered, .answeredTwice, .answeredLate] + RefundSilence.allCases.map { .silent($0) }
    /// When the first was requested.
    static let start = Date(timeIntervalSince1970: 1_765_000_000)

    let number: Int
    let app: String
    let environment: AppStoreEnvironment
    let requestedAt: Date
    let story: Story
    var product: String?
    let reason: String?
    let storefront: String?
    let price: Int64?
    let currency: String?
    let outcome: RefundCase.Outcome?
    let percentage: Int?
    /// What the answer that counts preferred, and the rule that gave it or says that there is none.
    private let preference: ConsumptionV2.RefundPreference?
    private let rule: String?

    /// Draws a case; `spacing`: how many seconds its request came after that of the case before.
    init(_ number: Int, every spacing: Double, _ generator: inout SeededRandom) {
        self.number = number
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        app = chance(95) ? "coins" : "gems"
        environment = chance(95) ? .production : .sandbox
        requestedAt = Self.start.addingTimeInterval(Double(number) * spacing).roundedToMilliseconds
        let story = Self.stories.randomElement(using: &generator) ?? .open
        self.story = story
        product = chance(98) ? "product \(Int.random(in: 0..<20, using: &generator))" : nil
        reason = chance(90) ? ["UNINTENDED_PURCHASE", "LEGAL", "OTHER"].randomElement(using: &generator) : nil
        storefront = chance(95) ? ["USA", "DEU", "JPN", "FRA"].randomElement(using: &generator) : nil
        price = chance(95) ? 100 * Int64.random(in: 0..<1_000_000, using: &generator) : nil
        currency = price == nil ? nil : ["USD", "EUR", "JPY"].randomElement(using: &generator)
        let isAnswered = [.answered, .answeredTwice, .answeredLate].contains(story)
        preference = isAnswered ? ConsumptionV2.RefundPreference.allCases.randomElement(using: &generator) : nil
        rule =
            story == .silent(.declinedByPolicy) || isAnswered && chance(50)
            ? ["trials", "gems", "the rest"].randomElement(using: &generator) : nil
        let isDecided =
            switch story {
            case .open: false
            // Its answer was cancelled by it, or would have come in time.
            case .silent(.decidedFirst): true
            default: chance(70)
            }
        outcome = isDecided ? RefundCase.Outcome.allCases.randomElement(using: &generator) : nil
        percentage = isDecided && chance(50) ? 1000 * Int.random(in: 0...100, using: &generator) : nil
    }

    private init(plain number: Int) {
        (self.number, app, environment, story) = (number, "coins", .production, .open)
        requestedAt = Self.start.addingTimeInterval(Double(number))
        (product, reason, storefront, price, currency, outcome, percentage, preference, rule) =
            (nil, nil, nil, nil, nil, nil, nil, nil, nil)
    }

    /// An open case of which little is known.
    static func plain(_ number: Int) -> GeneratedCase { GeneratedCase(plain: number) }

    /// What a report should say of the case.
    func value(_ dimension: RefundReportQuery.Dimension) -> String? {
        switch dimension {
        case .productID: product
        case .reason: reason
        case .storefront: storefront
        case .refundPreference: preference?.rawValue
        case .policyRule: rule
        case .week: week
        }
    }

    /// By counting days: that of the week's Thursday since the beginning of its year, divided by seven.
    private var week: String {
        let day = Int((requestedAt.timeIntervalSince1970 / 86_400).rounded(.down))
        let thursday = day - (day + 3) % 7 + 3
        var (year, january) = (1970, 0)
        while january + Self.days(of: year) <= thursday {
            january += Self.days(of: year)
            year += 1
        }
        return String(format: "%04d-W%02d", year, (thursday - january) / 7 + 1)
    }

    private static func days(of year: Int) -> Int {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 366 : 365
    }

    // MARK: What stands in the tables

    /// An answer that Apple accepted, at an hour, with what the report is to tell.
    private func accepted(at hour: Double) -> Answer {
        Answer(state: .accepted, endedAt: hour, preference: preference, rule: rule)
    }

    private var answers: [Answer] {
        switch story {
        case .open: number % 2 == 0 ? [] : [Answer(state: .queued, preference: .decline)]
        case .onItsWay: [Answer(state: .sending)]
        case .answered: [Answer(state: .refused, endedAt: 1, failure: .appleRejected), accepted(at: 12)]
        // The one that was made later was accepted earlier.
        case .answeredTwice:
            [accepted(at: 11), Answer(state: .accepted, endedAt: 2, preference: .decline, rule: "old")]
        case .answeredLate: [accepted(at: 12.01), Answer(state: .cancelled, endedAt: 13, failure: .caseClosed)]
        case .silent(.declined): number % 2 == 0 ? [] : [Answer(state: .cancelled, endedAt: 1, failure: .caseClosed)]
        case .silent(.declinedByPolicy), .silent(.ownerUnknown), .silent(.unanswered): []
        case .silent(.consentWithdrawn):
            [Answer(state: .refused, endedAt: 1), Answer(state: .cancelled, endedAt: 2, failure: .consentWithdrawn)]
        case .silent(.refusedByApple): [Answer(state: .refused, endedAt: 2, failure: .appleRejected)]
        case .silent(.deadlineExceeded): [Answer(state: .expired, endedAt: 12, failure: .deadlineExceeded)]
        case .silent(.cancelled): [Answer(state: .cancelled, endedAt: 3, failure: .deliveryEnded)]
        case .silent(.decidedFirst):
            number % 2 == 0 ? [] : [Answer(state: .cancelled, endedAt: 3, failure: .caseClosed)]
        }
    }

    private var state: RefundCase.State {
        if outcome != nil { return .decided }
        return switch story {
        case .open: .open
        case .answered, .answeredTwice, .answeredLate: .answered
        case .silent(.declined), .silent(.declinedByPolicy): .declined
        case .onItsWay, .silent: .expired
        }
    }

    private var declinedBy: String? {
        switch story {
        case .silent(.declined): "shop"
        case .silent(.declinedByPolicy): RefundPolicy.caller
        default: nil
        }
    }

    /// Writes the case and its deliveries.
    func insert(into database: Database) throws {
        func hours(_ count: Double) -> Int64 { requestedAt.addingTimeInterval(count * 3600).milliseconds }
        let id = String(format: "case-%07d", number)
        try database.cachedStatement(
            sql: """
                INSERT INTO refundCase
                    (id, app, environment, transactionId, originalTransactionId, productId, purchaseDate, isFamilyShared,
                     isAdvancedCommerce, owner, state, reason, requestedAt, openedAt, deadline, declineCaller, declineNote,
                     declineAt, outcome, decidedAt, price, currency, storefront, revocationPercentage)
                VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                id, app, environment.rawValue, "\(number)", "\(number)", product,
                story == .silent(.ownerUnknown) ? nil : Data("alice".utf8), state.rawValue, reason, hours(0), hours(0),
                hours(12), declinedBy, declinedBy.map { _ in Data((rule ?? "no time").utf8) },
                declinedBy.map { _ in hours(1) }, outcome?.rawValue,
                outcome.map { _ in hours(story == .silent(.decidedFirst) ? 11 : 48) }, price, currency, storefront,
                percentage,
            ])
        for (index, answer) in answers.enumerated() {
            let failure = try answer.failure.map { try DeliveryFailure(reason: $0, message: "No.").stored }
            try database.cachedStatement(
                sql: """
                    INSERT INTO delivery
                        (id, app, caseId, caller, transactionId, environment, version, body, createdAt, deadline, state,
                         endedAt, failure, refundPreference, policyRule)
                    VALUES (?, ?, ?, 'shop', ?, ?, 'V2', x'7b7d', ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(
                arguments: [
                    "delivery-\(id)-\(index)", app, id, "\(number)", environment.rawValue, hours(0), hours(12),
                    answer.state.rawValue, answer.endedAt.map(hours), failure, answer.preference?.rawValue, answer.rule,
                ])
        }
    }
}
