import Domain
import Foundation

/// One look for deliveries that may be claimed, soonest deadline first.
///
/// It walks the ready deliveries in the order of their deadlines. Where those of app environments to be skipped stand in
/// front, it goes on app environment by app environment, so that it costs as much as there are app environments, however
/// many deliveries wait in those that rest.
struct DueDeliveries {
    /// What a look found.
    struct Finding: Sendable {
        /// Which may be claimed.
        let ids: [String]
        /// Where the next look goes on when this one reached its bound; nil at the end.
        let next: DeliveryClaim.Position?
        /// How many app environments were asked for their first delivery, those that rest too.
        let appEnvironments: Int
    }

    /// How many ready deliveries are passed over before the look goes app environment by app environment, or ends.
    static let walkBound = 500

    /// A ready delivery, as the indexes hold it.
    private struct Entry {
        let deadline: Int64
        let id: String
        let appEnvironment: AppEnvironment
        let transaction: String

        /// Reads `deadline, id, transactionId`.
        init(_ row: SQLRow, in appEnvironment: AppEnvironment) throws {
            deadline = try row.value(at: 0)
            id = try row.value(at: 1)
            transaction = try row.value(at: 2)
            self.appEnvironment = appEnvironment
        }
    }

    /// A transaction of an app.
    private struct Purchase: Hashable {
        let app: String
        let transaction: String
    }

    var finding: Finding { Finding(ids: ids, next: next, appEnvironments: appEnvironments) }

    private var ids: [String] = []
    private var next: DeliveryClaim.Position?
    private var appEnvironments = 0
    private let limit: Int
    private let skipping: Set<AppEnvironment>
    private let sending: SQLStatement
    /// Everything up to here has been looked at; what has reached its deadline is not looked at.
    private var (deadline, id): (Int64, String)
    private var purchases: Set<Purchase> = []

    init(_ claim: DeliveryClaim, in database: SQLDatabase) throws {
        limit = claim.limit
        skipping = claim.skipping
        let start = (claim.now.milliseconds + 1, "")
        let after = claim.after.map { ($0.deadline.milliseconds, $0.id) } ?? start
        (deadline, id) = after < start ? start : after
        sending = try database.cachedStatement(
            sql: "SELECT 1 FROM delivery WHERE state = 'sending' AND app = ? AND transactionId = ?")
        if try walk(database) { try walkAppEnvironments(database) }
    }

    /// Walks all ready deliveries.
    ///
    /// - Returns: whether the bound was reached because of app environments to be skipped.
    private mutating func walk(_ database: SQLDatabase) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: """
                SELECT deadline, id, transactionId, app, environment FROM delivery
                WHERE isReady = 1 AND (deadline, id) > (?, ?) ORDER BY deadline, id LIMIT ?
                """)
        let rows = try SQLRow.fetchRows(statement, arguments: [deadline, id, Self.walkBound])
        var count = 0
        var isSkipping = false
        while ids.count < limit, let row = try rows.next() {
            count += 1
            let appEnvironment = AppEnvironment(
                app: try row.value("app"), environment: try row.knownIfPresent("environment"))
            let isSkipped = skipping.contains(appEnvironment)
            isSkipping = isSkipping || isSkipped
            try pass(Entry(row, in: appEnvironment), isSkipped: isSkipped)
        }
        guard count == Self.walkBound, ids.count < limit else { return false }
        if !isSkipping { next = position }
        return isSkipping
    }

    /// Walks the ready deliveries of the app environments that are not to be skipped.
    private mutating func walkAppEnvironments(_ database: SQLDatabase) throws {
        // The first of each app environment, the soonest last.
        var heads = try heads(database)
        heads.sort { ($0.deadline, $0.id) > ($1.deadline, $1.id) }
        var count = 0
        while ids.count < limit, let entry = heads.popLast() {
            count += 1
            try pass(entry, isSkipped: false)
            if let following = try head(of: entry.appEnvironment, database) {
                let place = heads.firstIndex { ($0.deadline, $0.id) < (following.deadline, following.id) }
                heads.insert(following, at: place ?? heads.endIndex)
            }
            guard count < Self.walkBound || heads.isEmpty else {
                next = position
                return
            }
        }
    }

    /// The first delivery behind the present place of each app environment that is not to be skipped.
    private mutating func heads(_ database: SQLDatabase) throws -> [Entry] {
        let apps = try database.cachedStatement(
            sql: "SELECT app FROM delivery WHERE isReady = 1 AND app > ? ORDER BY app LIMIT 1")
        var heads: [Entry] = []
        var last = ""
        while let app = try String.fetchOne(apps, arguments: [last]) {
            for environment in [nil] + AppStoreEnvironment.allCases {
                let appEnvironment = AppEnvironment(app: app, environment: environment)
                appEnvironments += 1
                if !skipping.contains(appEnvironment), let head = try head(of: appEnvironment, database) {
                    heads.append(head)
                }
            }
            last = app
        }
        return heads
    }

    /// The first delivery of an app environment behind the present place.
    private func head(of appEnvironment: AppEnvironment, _ database: SQLDatabase) throws -> Entry? {
        let environment = SQLList.condition("environment", is: appEnvironment.environment?.rawValue)
        let statement = try database.cachedStatement(
            sql: """
                SELECT deadline, id, transactionId FROM delivery
                WHERE isReady = 1 AND app = ? AND \(environment.sql) AND (deadline, id) > (?, ?)
                ORDER BY deadline, id LIMIT 1
                """)
        return try SQLRow.fetchOne(
            statement, arguments: [appEnvironment.app] + environment.arguments + [deadline, id]
        )
        .map { try Entry($0, in: appEnvironment) }
    }

    /// Goes on behind a delivery, and takes it unless another one of its transaction is being sent or taken.
    private mutating func pass(_ entry: Entry, isSkipped: Bool) throws {
        (deadline, id) = (entry.deadline, entry.id)
        guard !isSkipped,
            try Int.fetchOne(sending, arguments: [entry.appEnvironment.app, entry.transaction]) == nil,
            purchases.insert(Purchase(app: entry.appEnvironment.app, transaction: entry.transaction)).inserted
        else { return }
        ids.append(entry.id)
    }

    private var position: DeliveryClaim.Position {
        DeliveryClaim.Position(deadline: Date(milliseconds: deadline), id: id)
    }
}
