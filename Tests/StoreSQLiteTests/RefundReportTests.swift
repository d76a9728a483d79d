import Domain
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreSQL
@testable import StoreSQLite

/// Reports against sums over made-up cases of which it is known from the outset what became of them.
struct RefundReportTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// How many cases of the app: twenty thousand in the usual run, as many as `REFUND_REPORT_CASES` says in a long one.
    private static let count = environment["REFUND_REPORT_CASES"].flatMap { Int($0) } ?? 20_000

    /// A month of requests, in seconds from one to the next.
    private static let spacing = 30 * 86_400 / Double(count)

    @Test func `a report tells what a sum over all cases does, however it is grouped`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        var generator = SeededRandom(seed: 16)
        var expected = ExpectedReports(queries: Self.queries())
        for start in stride(from: 0, to: Self.count, by: 10_000) {
            let cases = (start..<min(start + 10_000, Self.count)).map {
                GeneratedCase($0, every: Self.spacing, &generator)
            }
            try await store.pool.write { database in
                for one in cases { try one.insert(into: database) }
            }
            for one in cases { expected.count(one) }
        }
        for (query, sums) in zip(expected.queries, expected.sums) {
            let memory = Self.residentKilobytes
            let start = ContinuousClock.now
            let report = try await store.refundReport(app: "coins", query)
            let name = query.dimensions.map(\.rawValue).joined(separator: ", ")
            if Self.count > 100_000 {
                print(
                    "report by [\(name)] of \(report.rows.map(\.figures.requests).reduce(0, +)) cases:",
                    "\(report.rows.count) rows, \(start.duration(to: .now)), \(Self.residentKilobytes - memory) KiB more"
                )
            }
            #expect(report.rows.map(\.key) == sums.keys.sorted(), "\(name)")
            for row in report.rows { #expect(row.figures == sums[row.key], "\(name): \(row.key)") }
        }
        #expect(expected.sums.map(\.count).max() ?? 0 > 1000, "there is something to tell apart")
    }

    @Test(arguments: RefundReportStoreContract.cases)
    func `the SQLite store keeps the contract of refund reports`(contract: RefundReportStoreContract) async throws {
        let folder = try StoreFolder()
        try await contract.run { try await folder.open() }
    }

    /// All together, by each dimension, by all but one, and of spans of time and the other environment.
    private static func queries() -> [RefundReportQuery] {
        func query(_ groupBy: Set<RefundReportQuery.Dimension>, _ change: (inout RefundReportQuery) -> Void = { _ in })
            -> RefundReportQuery
        {
            var query = RefundReportQuery(environment: .production)
            query.groupBy = groupBy
            change(&query)
            return query
        }
        let all = Set(RefundReportQuery.Dimension.allCases)
        return [
            query([]), query([.productID, .storefront, .week]), query([.reason, .refundPreference, .policyRule]),
            query([.productID, .reason, .refundPreference, .policyRule]),
            query([.week]) {
                $0.from = GeneratedCase.start.addingTimeInterval(3 * 86_400)
                $0.to = GeneratedCase.start.addingTimeInterval(28 * 86_400)
            },
            // Few enough cases that all of it can be told apart.
            query(all) { $0.to = GeneratedCase.start.addingTimeInterval(2000 * spacing) },
            query([.productID]) { $0.environment = .sandbox },
        ] + all.map { query([$0]) }
    }

    @Test func `what would be more rows than may be is refused, and a narrower span is not`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        try await store.pool.write { database in
            for number in 0...RefundReportQuery.maximumRows {
                var one = GeneratedCase.plain(number)
                one.product = "product \(number)"
                try one.insert(into: database)
            }
        }
        var query = RefundReportQuery(environment: .production)
        query.groupBy = [.productID]
        await #expect(throws: ServiceError(.invalidRequest, "")) { try await store.refundReport(app: "coins", query) }
        query.from = GeneratedCase.plain(1).requestedAt
        let report = try await store.refundReport(app: "coins", query)
        #expect(report.rows.count == RefundReportQuery.maximumRows)
        query.from = nil
        query.to = GeneratedCase.plain(RefundReportQuery.maximumRows).requestedAt
        #expect(try await store.refundReport(app: "coins", query).rows.count == RefundReportQuery.maximumRows)
        query.groupBy = []
        #expect(try await store.refundReport(app: "gems", query).rows.isEmpty)
    }

    /// What this process keeps in memory.
    private static var residentKilobytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}

/// Sums that are made by looking at each case, with nothing of what reports are made by.
private struct ExpectedReports {
    let queries: [RefundReportQuery]
    private(set) var sums: [[RefundReport.Key: RefundFigures]]

    init(queries: [RefundReportQuery]) {
        self.queries = queries
        sums = Array(repeating: [:], count: queries.count)
    }

    mutating func count(_ one: GeneratedCase) {
        guard one.app == "coins" else { return }
        for (index, query) in queries.enumerated() where query.environment == one.environment {
            if let from = query.from, one.requestedAt < from { continue }
            if let to = query.to, one.requestedAt >= to { continue }
            let key = RefundReport.Key(
                values: RefundReportQuery.Dimension.allCases.filter(query.groupBy.contains).map(one.value),
                currency: one.price == nil ? nil : one.currency)
            sums[index][key, default: RefundFigures()].add(one)
        }
    }
}

extension RefundFigures {
    fileprivate mutating func add(_ one: GeneratedCase) {
        requests += 1
        switch one.story {
        case .open, .onItsWay: open += 1
        case .answered, .answeredTwice: answeredInTime += 1
        case .answeredLate: answeredLate += 1
        case .silent(let silence): silent[silence, default: 0] += 1
        }
        requestedAmount += Int128(one.price ?? 0)
        if let outcome = one.outcome { outcomes[outcome, default: 0] += 1 }
        guard one.outcome == .refunded else { return }
        let percentage = one.percentage ?? 100_000
        if percentage < 100_000 { proratedRefunds += 1 }
        revocationPercentages += Int128(percentage)
        // Prices are whole hundreds here, and percentages whole thousands: nothing is left to be rounded.
        refundedAmount += Int128((one.price ?? 0) / 100 * Int64(percentage / 1000))
    }
}
