package import Domain
package import Foundation

extension SQLStore {
    package func budgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError) -> [BudgetRecord] {
        try await read("read what was used of the budgets") { database in
            try SQLRow.fetchAll(
                database, sql: "SELECT * FROM budgetRecord WHERE minute BETWEEN ? AND ?",
                arguments: [minutes.lowerBound, minutes.upperBound]
            ).map(BudgetRecord.init(row:))
        }
    }

    package func saveBudgetRecords(_ records: [BudgetRecord]) async throws(ServiceError) {
        guard !records.isEmpty else { return }
        try await write("save what is used of the budgets") { database in
            let statement = try database.cachedStatement(
                sql: """
                    INSERT INTO budgetRecord (minute, app, endpoint, environment, caller, priority, calls)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (minute, app, endpoint, environment, caller, priority)
                    DO UPDATE SET calls = excluded.calls
                    """)
            for record in records {
                let call = record.call
                try statement.execute(
                    arguments: [
                        record.minute, call.app, call.endpoint, call.environment.rawValue, call.caller,
                        call.priority.rawValue, record.calls,
                    ])
            }
        }
    }

    package func keepBudgetRecords(of minutes: ClosedRange<Int>) async throws(ServiceError) {
        try await write("forget what was used of the budgets") { database in
            // One statement each, since no index serves both at once.
            try database.execute(
                sql: "DELETE FROM budgetRecord WHERE minute < ?", arguments: [minutes.lowerBound])
            try database.execute(
                sql: "DELETE FROM budgetRecord WHERE minute > ?", arguments: [minutes.upperBound])
        }
    }

    package func budgetBlocks(after date: Date) async throws(ServiceError) -> [BudgetBlock] {
        try await read("read Apple's wishes to wait") { database in
            try SQLRow.fetchAll(
                database, sql: "SELECT * FROM budgetBlock WHERE until > ?", arguments: [date.milliseconds]
            ).map(BudgetBlock.init(row:))
        }
    }

    package func replaceBudgetBlocks(_ blocks: [BudgetBlock]) async throws(ServiceError) {
        try await write("save Apple's wishes to wait") { database in
            try database.execute(sql: "DELETE FROM budgetBlock")
            for block in blocks {
                try database.execute(
                    sql: "INSERT INTO budgetBlock (until, app, endpoint, environment) VALUES (?, ?, ?, ?)",
                    arguments: [block.until.milliseconds, block.app, block.endpoint, block.environment.rawValue])
            }
        }
    }
}

extension BudgetRecord {
    /// Reads a row with all columns.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    init(row: SQLRow) throws {
        self.init(
            call: BudgetedCall(
                app: try row.value("app"), endpoint: try row.value("endpoint"),
                environment: try row.known("environment"), caller: try row.value("caller"),
                priority: try row.known("priority")),
            minute: try row.value("minute"), calls: try row.value("calls"))
    }
}

extension BudgetBlock {
    /// Reads a row with all columns.
    ///
    /// - Throws: `SQLError` when the row holds what this version does not know.
    fileprivate init(row: SQLRow) throws {
        self.init(
            app: try row.value("app"), endpoint: try row.value("endpoint"),
            environment: try row.known("environment"), until: try row.date("until"))
    }
}
