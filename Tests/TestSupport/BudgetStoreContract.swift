package import Domain
import Foundation
import Testing

/// What every store of budgets must do; run against the real one and the one in memory, so that the latter cannot drift.
package struct BudgetStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Make = @Sendable () async throws -> any BudgetStore

    package let testDescription: String
    private let check: @Sendable (any BudgetStore) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any BudgetStore) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    private static func record(
        _ minute: Int, _ calls: Int, app: String = "coins", environment: AppStoreEnvironment = .production,
        caller: String = "shop", priority: CallPriority = .interactive
    ) -> BudgetRecord {
        let call = BudgetedCall(
            app: app, endpoint: "Get Refund History", environment: environment, caller: caller, priority: priority)
        return BudgetRecord(call: call, minute: minute, calls: calls)
    }

    private static func block(_ app: String, until seconds: Double) -> BudgetBlock {
        BudgetBlock(
            app: app, endpoint: "Get Refund History", environment: .sandbox, until: Date(timeIntervalSince1970: seconds)
        )
    }

    package static let cases: [BudgetStoreContract] = [
        BudgetStoreContract("records come back as they were saved, by their minutes") { store in
            let records = [
                record(10, 1), record(10, 2, app: "gems"), record(10, 3, environment: .sandbox),
                record(10, 4, caller: BudgetedCall.ownWork), record(10, 5, priority: .deadlineBound), record(12, 6),
            ]
            try await store.saveBudgetRecords(records)
            #expect(Set(try await store.budgetRecords(of: 10...12)) == Set(records))
            #expect(try await store.budgetRecords(of: 11...Int.max) == [records[5]])
            #expect(try await store.budgetRecords(of: 11...11) == [])
        },
        BudgetStoreContract("a record takes the place of an earlier one of the same call and minute") { store in
            try await store.saveBudgetRecords([record(10, 1), record(11, 1)])
            try await store.saveBudgetRecords([record(10, 7)])
            try await store.saveBudgetRecords([])
            #expect(Set(try await store.budgetRecords(of: 0...20)) == [record(10, 7), record(11, 1)])
        },
        BudgetStoreContract("records of other minutes are forgotten, earlier and later ones") { store in
            try await store.saveBudgetRecords((1...9).map { record($0, $0) })
            try await store.keepBudgetRecords(of: 4...6)
            #expect(Set(try await store.budgetRecords(of: 0 ... .max)) == Set((4...6).map { record($0, $0) }))
        },
        BudgetStoreContract("thousands of records are saved at once") { store in
            let records = (1...3000).map { record(5, $0, app: "app-\($0)") }
            try await store.saveBudgetRecords(records)
            #expect(Set(try await store.budgetRecords(of: 5...5)) == Set(records))
        },
        BudgetStoreContract("blocks take the place of all earlier ones, and are found while they last") { store in
            let blocks = [block("coins", until: 100.25), block("gems", until: 200)]
            try await store.replaceBudgetBlocks([block("old", until: 300)])
            try await store.replaceBudgetBlocks(blocks)
            #expect(Set(try await store.budgetBlocks(after: Date(timeIntervalSince1970: 50))) == Set(blocks))
            #expect(try await store.budgetBlocks(after: Date(timeIntervalSince1970: 100.25)) == [blocks[1]])
            try await store.replaceBudgetBlocks([])
            #expect(try await store.budgetBlocks(after: Date(timeIntervalSince1970: 0)) == [])
        },
    ]
}
