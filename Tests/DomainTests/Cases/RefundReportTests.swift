import Foundation
import TestSupport
import Testing

@testable import Domain

/// What a refund case counts as, and how reports are put together.
struct RefundReportTests {
    private typealias Answer = RefundReportEntry.Answer

    /// A case that was requested at hour zero and is due at hour twelve.
    private func entry(
        _ state: RefundCase.State, _ answers: [Answer] = [], _ change: (inout RefundReportEntry) -> Void = { _ in }
    ) -> RefundReportEntry {
        var entry = RefundReportEntry(state: state, requestedAt: CaseModel.time(0), deadline: CaseModel.time(12))
        entry.isOwnerKnown = true
        entry.answers = answers
        change(&entry)
        return entry
    }

    private static let byPolicy = RefundCase.Decline(
        caller: RefundPolicy.caller, note: "trials", at: CaseModel.time(1))

    private func answer(
        _ state: Delivery.State, at hour: Double? = nil, _ failure: ServiceError.Reason? = nil,
        _ preference: ConsumptionV2.RefundPreference? = nil
    ) -> Answer {
        Answer(state: state, endedAt: hour.map(CaseModel.time), failure: failure, refundPreference: preference)
    }

    private func report(
        _ entries: [RefundReportEntry], by dimensions: RefundReportQuery.Dimension...
    ) throws -> RefundReport {
        var query = RefundReportQuery(environment: .production)
        query.groupBy = Set(dimensions)
        var builder = RefundReportBuilder(query)
        for entry in entries { try builder.add(entry) }
        return builder.report()
    }

    // MARK: What became of the answer

    @Test func `an answer is in time if Apple accepted it by the deadline, whatever became of the case`() {
        for state in RefundCase.State.allCases {
            let inTime = entry(state, [answer(.cancelled, at: 1, .deliveryEnded), answer(.accepted, at: 12)])
            #expect(RefundReportRules.fate(of: inTime) == .answeredInTime, "\(state)")
            let late = entry(state, [answer(.accepted, at: 12.001), answer(.refused, at: 13)]) {
                $0.decline = CaseModel.declined(at: 1)
                $0.isOwnerKnown = false
            }
            #expect(RefundReportRules.fate(of: late) == .answeredLate, "\(state)")
        }
        #expect(RefundReportRules.fate(of: entry(.answered)) == .answeredInTime, "it is not kept any more")
    }

    @Test func `of several that Apple accepted, the latest counts`() throws {
        let entry = entry(
            .decided,
            [
                answer(.accepted, at: 3, nil, .decline), answer(.accepted, at: 13, nil, .grantFull),
                answer(.accepted, at: 4, nil, .decline), answer(.refused, at: 14),
            ])
        #expect(RefundReportRules.fate(of: entry) == .answeredLate)
        #expect(try report([entry], by: .refundPreference).rows.map(\.key.values) == [["GRANT_FULL"]])
    }

    @Test func `open is what Apple waits for, and what is on its way when its case ends`() {
        #expect(RefundReportRules.fate(of: entry(.open)) == .open)
        #expect(RefundReportRules.fate(of: entry(.open, [answer(.refused, at: 1)])) == .open)
        for state in [RefundCase.State.decided, .expired] {
            #expect(RefundReportRules.fate(of: entry(state, [answer(.sending)])) == .open)
            #expect(RefundReportRules.fate(of: entry(state, [answer(.queued)])) == .open)
        }
    }

    @Test func `each silence has its reason`() {
        let stories: [(RefundSilence, RefundReportEntry)] = [
            (.declined, entry(.declined) { $0.decline = CaseModel.declined(at: 1) }),
            (.declined, entry(.decided, [answer(.expired, at: 2)]) { $0.decline = CaseModel.declined(at: 1) }),
            (.declinedByPolicy, entry(.declined) { $0.decline = Self.byPolicy }),
            (
                .consentWithdrawn,
                entry(.expired, [answer(.refused, at: 1), answer(.cancelled, at: 2, .consentWithdrawn)])
            ),
            (
                .refusedByApple,
                entry(.decided, [answer(.cancelled, at: 1, .consentWithdrawn), answer(.refused, at: 2)])
            ),
            (.deadlineExceeded, entry(.expired, [answer(.expired, at: 12)])),
            (.cancelled, entry(.expired, [answer(.cancelled, at: 1, .deliveryEnded)])),
            (.cancelled, entry(.expired, [answer(.cancelled, at: 1)])),
            (.decidedFirst, entry(.decided, [answer(.cancelled, at: 1, .caseClosed)])),
            (.decidedFirst, entry(.decided) { $0.decidedAt = CaseModel.time(11.999) }),
            (.unanswered, entry(.decided) { $0.decidedAt = CaseModel.time(12) }),
            (.unanswered, entry(.expired)),
            (.ownerUnknown, entry(.expired) { $0.isOwnerKnown = false }),
            (
                .ownerUnknown,
                entry(.decided) {
                    $0.isOwnerKnown = false
                    $0.decidedAt = CaseModel.time(1)
                }
            ),
        ]
        for (silence, entry) in stories {
            #expect(RefundReportRules.fate(of: entry) == .silent(silence), "\(entry)")
        }
        #expect(Set(stories.map(\.0)) == Set(RefundSilence.allCases), "each is told of")
    }

    @Test func `a rule of the policy is named where it answered, and where it says not to`() throws {
        let (accepted, cancelled) = (CaseModel.time(1), CaseModel.time(2))
        let entries = [
            entry(.answered, [Answer(state: .accepted, endedAt: accepted, policyRule: "gems")]),
            entry(.expired, [Answer(state: .cancelled, endedAt: cancelled, policyRule: "gems")]),
            entry(.declined) { $0.decline = Self.byPolicy },
            entry(.declined) { $0.decline = CaseModel.declined(at: 1) },
            entry(.open) { $0.terms.storefront = "DEU" },
        ]
        let rows = try report(entries, by: .policyRule, .storefront).rows
        #expect(rows.map(\.key.values) == [[nil, nil], [nil, "DEU"], ["gems", nil], ["trials", nil]])
        #expect(rows.map(\.figures.requests) == [2, 1, 1, 1])
    }

    // MARK: Sums

    @Test func `amounts are summed by currency, and what has no price is a row of its own`() throws {
        func bought(_ price: Int64?, _ currency: String?, _ outcome: RefundCase.Outcome?, _ percentage: Int32? = nil)
            -> RefundReportEntry
        {
            entry(.decided, [answer(.accepted, at: 1)]) {
                $0.terms = PurchaseTerms(price: price, currency: currency)
                ($0.outcome, $0.revocationPercentage) = (outcome, percentage)
            }
        }
        let report = try report([
            bought(9990, "USD", .refunded), bought(1001, "USD", .refunded, 50_000), bought(5, "USD", .refundDeclined),
            bought(7, "USD", .refundReversed, 50_000), bought(3, "USD", nil), bought(4990, "EUR", .refunded, 100_000),
            bought(.max, "VND", .refunded), bought(.max, "VND", .refunded, 99_999),
            bought(1000, nil, .refunded, 1), bought(nil, "USD", nil),
        ])
        #expect(report.rows.map(\.key.currency) == [nil, "EUR", "USD", "VND"])
        #expect(report.groups.count == 1)
        let dollars = report.rows[2].figures
        #expect(dollars.requests == 5 && dollars.answeredInTime == 5 && dollars.undecided == 1)
        #expect(dollars.outcomes == [.refunded: 2, .refundDeclined: 1, .refundReversed: 1])
        // Half of 1001 is rounded up; what Apple took back does not count.
        #expect(dollars.requestedAmount == 11_006 && dollars.refundedAmount == 9990 + 501)
        #expect(dollars.proratedRefunds == 1 && dollars.meanRevocationPercentage == 75_000)
        #expect(report.rows[1].figures.proratedRefunds == 0)
        // Beyond 64 bits.
        #expect(report.rows[3].figures.requestedAmount == Int128(Int64.max) * 2)
        let rest = report.rows[0].figures
        #expect(
            rest.requests == 2 && rest.requestedAmount == 0 && rest.refundedAmount == 0 && rest.proratedRefunds == 1)
        let sum = report.rows.map(\.figures).reduce(RefundFigures(), +)
        #expect(sum.requests == 10 && sum.outcomes[.refunded] == 6 && sum.answeredInTime == 10)
        #expect(RefundFigures().meanRevocationPercentage == nil)
    }

    @Test func `groups are in the order of their values, what is not known first`() throws {
        let entries = [
            ("gems", "OTHER", "USD"), (nil, "OTHER", "EUR"), ("coins", nil, "USD"), ("gems", "OTHER", "EUR"),
        ]
        .map { product, reason, currency in
            entry(.open) {
                ($0.productID, $0.reason) = (product, reason)
                $0.terms = PurchaseTerms(price: 1, currency: currency)
            }
        }
        let report = try report(entries + entries, by: .reason, .productID)
        #expect(
            report.groups.map { $0.map(\.key) } == [
                [RefundReport.Key(values: [nil, "OTHER"], currency: "EUR")],
                [RefundReport.Key(values: ["coins", nil], currency: "USD")],
                [
                    RefundReport.Key(values: ["gems", "OTHER"], currency: "EUR"),
                    RefundReport.Key(values: ["gems", "OTHER"], currency: "USD"),
                ],
            ])
        #expect(report.rows.allSatisfy { $0.figures.requests == 2 && $0.figures.open == 2 })
        #expect(try self.report([], by: .week).groups.isEmpty)
    }

    /// Dates of the standard's own examples, and of years that begin on each day of the week.
    @Test(arguments: [
        ("1969-12-28T23:59:59.999Z", "1969-W52"), ("1969-12-29T00:00:00Z", "1970-W01"),
        ("1970-01-04T23:59:59.999Z", "1970-W01"), ("1970-01-05T00:00:00Z", "1970-W02"),
        ("1977-01-01T12:00:00Z", "1976-W53"), ("2007-12-31T00:00:00Z", "2008-W01"),
        ("2008-12-28T23:59:59Z", "2008-W52"), ("2008-12-29T00:00:00Z", "2009-W01"),
        ("2010-01-03T12:00:00Z", "2009-W53"), ("2020-12-31T12:00:00Z", "2020-W53"),
        ("2024-02-29T12:00:00Z", "2024-W09"), ("2026-01-31T12:00:00Z", "2026-W05"),
    ])
    func `a week is of the year of its Thursday`(time: String, week: String) throws {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: time.contains("."))
        let date = try style.parse(time)
        var weeks = ISOWeeks()
        #expect(weeks.name(of: date) == week)
        #expect(weeks.name(of: date) == week, "as it was told before")
        let entry = entry(.open) { $0.requestedAt = date }
        #expect(try report([entry], by: .week).rows.map(\.key.values) == [[week]])
    }

    // MARK: Bounds

    @Test func `a report has at most ten thousand rows, and says what to narrow`() throws {
        var query = RefundReportQuery(environment: .production)
        query.groupBy = [.productID, .week]
        var builder = RefundReportBuilder(query)
        for number in 0..<RefundReportQuery.maximumRows {
            try builder.add(entry(.open) { $0.productID = "\(number)" })
            try builder.add(entry(.open) { $0.productID = "\(number)" })
        }
        #expect(builder.report().rows.count == 10_000)
        do {
            try builder.add(
                entry(.open) { ($0.productID, $0.terms) = ("0", PurchaseTerms(price: 1, currency: "USD")) })
            Issue.record("a row too many")
        } catch {
            #expect(error.reason == .invalidRequest)
            let violation = try #require(error.violations.first)
            #expect(violation.field == "groupBy" && violation.rule == "count")
            #expect(violation.message.contains("`productId`, `week`, currency") && violation.message.contains("`from`"))
        }
    }

    /// A clock on which no time passes unless a test says so.
    private func clock(_ manual: ManualClock) -> ServiceClock {
        ServiceClock(
            now: { CaseModel.time(0) },
            sleep: { try await manual.sleep(until: manual.now.advanced(by: $0), tolerance: nil) })
    }

    @Test func `no more reports are made at once than may be`() async throws {
        let (store, manual) = (SlowReportStore(), ManualClock())
        let service = RefundReportService(store: store, clock: clock(manual))
        let app = App(slug: "coins", bundleID: "com.example.coins")
        let query = RefundReportQuery(environment: .production)
        let running = (0..<RefundReportService.maximumConcurrentReports).map { _ in
            Task { try await service.report(app: app, query) }
        }
        await store.gate.hasArrivals(RefundReportService.maximumConcurrentReports)
        do throws(ServiceError) {
            _ = try await service.report(app: app, query)
            Issue.record("it was admitted")
        } catch {
            #expect(error.reason == .overloaded && error.retryAfter == RefundReportService.retryAfter)
        }
        store.gate.open()
        for report in running { #expect(try await report.value.rows.isEmpty) }
        #expect(try await service.report(app: app, query).rows.isEmpty, "then there is room again")
    }

    @Test func `a report that takes too long ends, says what to narrow, and makes room for others`() async throws {
        let (store, manual) = (SlowReportStore(), ManualClock())
        let service = RefundReportService(store: store, clock: clock(manual))
        let app = App(slug: "coins", bundleID: "com.example.coins")
        let query = RefundReportQuery(environment: .production)
        for round in 1...RefundReportService.maximumConcurrentReports + 1 {
            let report = Task { try await service.report(app: app, query) }
            await store.gate.hasArrivals(round)
            await manual.sleeperHasArrived()
            manual.advance(by: RefundReportService.timeLimit - .seconds(1))
            manual.advance(by: .seconds(1))
            do {
                _ = try await report.value
                Issue.record("it came to an end")
            } catch {
                let error = try #require(error as? ServiceError)
                #expect(error.reason == .deadlineExceeded && error.message.contains("`from` and `to` closer together"))
            }
        }
        store.gate.open()
        #expect(try await service.report(app: app, query).rows.isEmpty)
    }

    @Test func `without an environment a report is of Production, or of the only one that there is`() {
        func environment(_ environments: Set<AppStoreEnvironment>) -> AppStoreEnvironment {
            RefundReportService.defaultEnvironment(
                of: App(slug: "coins", bundleID: "com.example.coins", environments: environments))
        }
        #expect(environment([.production, .sandbox]) == .production)
        #expect(environment([.production]) == .production)
        #expect(environment([.sandbox]) == .sandbox)
    }
}

/// Answers once its gate is open.
private final class SlowReportStore: RefundReportStore {
    let gate = Gate()

    init() { gate.close() }

    func refundReport(app: String, _ query: RefundReportQuery) async throws(ServiceError) -> RefundReport {
        await gate.pass()
        return RefundReport(rows: [])
    }

    func refundDecisions() async throws(ServiceError) -> [RefundDecisionCount] { [] }
}
