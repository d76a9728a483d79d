package import Domain
import Foundation

/// Which `appAccountToken` a purchase has: what Apple signed last, or accepted from us since.
enum PurchaseTokenRow {
    /// Keeps the token in what Apple signed, unless newer data is known; gives cases and deliveries the token that now holds.
    static func recordSigned(_ transaction: Transaction, app: String, in database: SQLDatabase) throws {
        var all = FactPresence.all
        try recordSigned(transaction, app: app, &all, in: database)
    }

    /// The same; `presence`: what there is about the purchase, and afterwards the token as well.
    static func recordSigned(
        _ transaction: Transaction, app: String, _ presence: inout FactPresence, in database: SQLDatabase
    ) throws {
        let known = presence.contains(.signedToken) ? try signed(transaction.facts, app: app, in: database) : nil
        if let known {
            // What says the same again is no write.
            guard transaction.signedDate > known.signedAt, transaction.appAccountToken != known.token else { return }
        } else if transaction.appAccountToken == nil {
            return
        }
        try database.cachedStatement(
            sql: """
                INSERT INTO signedToken (app, environment, transactionId, appAccountToken, signedAt) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (app, environment, transactionId) DO UPDATE SET
                    appAccountToken = excluded.appAccountToken, signedAt = excluded.signedAt
                """
        ).execute(
            arguments: [
                app, transaction.environment.rawValue, transaction.transactionID, transaction.appAccountToken,
                transaction.signedDate.milliseconds,
            ])
        presence.insert(.signedToken)
        guard !presence.isDisjoint(with: [.cases, .deliveries]) else { return }
        try spread(to: transaction.originalTransactionID, app: app, transaction.environment, in: database)
    }

    /// Whether a transaction says nothing new of its token.
    static func isKnown(_ transaction: Transaction, app: String, in database: SQLDatabase) throws -> Bool {
        guard let known = try signed(transaction.facts, app: app, in: database) else {
            return transaction.appAccountToken == nil
        }
        return transaction.signedDate <= known.signedAt || transaction.appAccountToken == known.token
    }

    /// Keeps a token that Apple accepted from us.
    static func recordAccepted(
        _ token: String, of original: String, app: String, _ environment: AppStoreEnvironment, at now: Date,
        in database: SQLDatabase
    ) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO acceptedToken (app, environment, originalTransactionId, appAccountToken, at)
                VALUES (?, ?, ?, ?, ?)
                """
        ).execute(arguments: [app, environment.rawValue, original, token.lowercased(), now.milliseconds])
        try spread(to: original, app: app, environment, in: database)
    }

    /// The purchase with the token that holds: the last that Apple accepted from us, if it is younger than what Apple signed
    /// and the purchase is no renewal that was over by then; else the newest signed one.
    ///
    /// `presence`: what there is about the purchase.
    static func effective(
        _ purchase: PurchaseFacts, app: String, _ presence: FactPresence = .all, in database: SQLDatabase
    ) throws -> PurchaseFacts {
        var effective = purchase
        let signed = presence.contains(.signedToken) ? try signed(purchase, app: app, in: database) : nil
        if let signed { effective.appAccountToken = signed.token }
        guard presence.contains(.acceptedTokens) else { return effective }
        let accepted = try SQLRow.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT appAccountToken, at FROM acceptedToken
                    WHERE app = ? AND originalTransactionId = ? AND environment = ? ORDER BY position DESC
                    """),
            arguments: [app, purchase.originalTransactionID, purchase.environment.rawValue])
        for row in accepted {
            let at = try row.date("at")
            if let signed, at <= signed.signedAt { break }
            if let end = purchase.expiresDate, end <= at { continue }
            effective.appAccountToken = try row.value("appAccountToken")
            break
        }
        return effective
    }

    /// The token that Apple last accepted for an identifier of which nothing else is known.
    static func accepted(
        for original: String, app: String, _ environment: AppStoreEnvironment?, in database: SQLDatabase
    ) throws -> String? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT appAccountToken FROM acceptedToken
                WHERE app = ? AND originalTransactionId = ? AND environment = coalesce(?, environment)
                ORDER BY position DESC LIMIT 1
                """)
        return try String.fetchOne(statement, arguments: [app, original, environment?.rawValue])
    }

    private static func signed(
        _ purchase: PurchaseFacts, app: String, in database: SQLDatabase
    ) throws -> (token: String?, signedAt: Date)? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT appAccountToken, signedAt FROM signedToken
                WHERE app = ? AND environment = ? AND transactionId = ?
                """)
        return try SQLRow.fetchOne(
            statement, arguments: [app, purchase.environment.rawValue, purchase.transactionID]
        ).map { (try $0.value("appAccountToken"), try $0.date("signedAt")) }
    }

    /// Writes the tokens that now hold into cases and deliveries, which then have their owners judged anew.
    private static func spread(
        to original: String, app: String, _ environment: AppStoreEnvironment, in database: SQLDatabase
    ) throws {
        for table in ["refundCase", "delivery"] {
            let rows = try SQLRow.fetchAll(
                database.cachedStatement(
                    sql: "SELECT * FROM \(table) WHERE app = ? AND originalTransactionId = ? AND +environment = ?"),
                arguments: [app, original, environment.rawValue])
            for row in rows {
                let purchase = try row.purchase()
                let token = try effective(purchase, app: app, in: database).appAccountToken
                guard token != purchase.appAccountToken else { continue }
                try database.cachedStatement(sql: "UPDATE \(table) SET appAccountToken = ? WHERE id = ?")
                    .execute(arguments: [token, try row.value("id", as: String.self)])
            }
        }
        try CaseRow.refreshOwners(app: app, targets: [LinkTarget(.originalTransactionId, original)], in: database)
    }

    /// Which purchases have one of these tokens.
    static func list(
        _ tokens: [String], app: String, in database: SQLDatabase
    ) throws -> [UserInventory.PurchaseToken] {
        try tokens.flatMap { token in
            let signed = try SQLRow.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT environment, transactionId, signedAt AS at FROM signedToken
                        WHERE app = ? AND appAccountToken = ?
                        """), arguments: [app, token])
            let accepted = try SQLRow.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT environment, originalTransactionId AS transactionId, at FROM acceptedToken
                        WHERE app = ? AND appAccountToken = ? ORDER BY position
                        """), arguments: [app, token])
            return try [(signed, false), (accepted, true)].flatMap { rows, isAccepted in
                try rows.map { row in
                    UserInventory.PurchaseToken(
                        appAccountToken: token, environment: try row.known("environment"),
                        transactionID: try row.value("transactionId"), at: try row.date("at"), isAccepted: isAccepted)
                }
            }.sorted { ($0.at, $0.transactionID) < ($1.at, $1.transactionID) }
        }
    }

    /// Removes what names a user: the tokens that are the user's.
    static func remove(_ tokens: [String], app: String, in database: SQLDatabase) throws {
        for token in tokens {
            for table in ["signedToken", "acceptedToken"] {
                try database.cachedStatement(sql: "DELETE FROM \(table) WHERE app = ? AND appAccountToken = ?")
                    .execute(arguments: [app, token])
            }
        }
    }
}

/// What guardians took back, as it stands in its table.
enum RescissionRow {
    static func insert(
        _ account: String, app: String, _ environment: AppStoreEnvironment, signedAt: Date, at now: Date,
        _ tombstones: Tombstones, in database: SQLDatabase
    ) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO rescission (account, app, environment, signedAt, recordedAt) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """
        ).execute(
            arguments: [
                try tombstones.hash(of: account, app: app, environment), app, environment.rawValue,
                signedAt.milliseconds, now.milliseconds,
            ])
    }

    /// Whether there is any in an app, which is seldom.
    static func hasAny(app: String, _ environment: AppStoreEnvironment?, in database: SQLDatabase) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM rescission WHERE app = ? AND environment = coalesce(?, environment) LIMIT 1")
        return try Int.fetchOne(statement, arguments: [app, environment?.rawValue]) != nil
    }

    /// Whether there is any in an app that is still to be applied.
    static func isAnyPending(app: String, in database: SQLDatabase) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: """
                SELECT 1 FROM notification WHERE processedAt IS NULL AND type = 'RESCIND_CONSENT' AND app = ? LIMIT 1
                """)
        return try Int.fetchOne(statement, arguments: [app]) != nil
    }

    /// When a guardian last rescinded consent for an Apple Account.
    static func latest(
        of account: String, app: String, _ environment: AppStoreEnvironment, _ tombstones: Tombstones,
        in database: SQLDatabase
    ) throws -> Date? {
        guard try hasAny(app: app, environment, in: database) else { return nil }
        let statement = try database.cachedStatement(
            sql: "SELECT signedAt FROM rescission WHERE account = ? ORDER BY signedAt DESC LIMIT 1")
        return try SQLRow.fetchOne(
            statement, arguments: [try tombstones.hash(of: account, app: app, environment)]
        ).map { try $0.date("signedAt") }
    }
}

/// The settings of an app that the rules look at, as they stand in their table.
package enum AppSettingRow {
    /// The app with these settings; nil where none were kept.
    static func fetch(_ slug: String, from database: SQLDatabase) throws -> App? {
        let statement = try database.cachedStatement(sql: "SELECT * FROM appSetting WHERE app = ?")
        return try SQLRow.fetchOne(statement, arguments: [slug]).map(app)
    }

    private static func app(_ row: SQLRow) throws -> App {
        let tokens: String = try row.value("ignoredTokens")
        return App(
            slug: try row.value("app"), bundleID: "", userIDs: try row.known("userIDs"),
            // Mostly there are none, and a decoder costs more than the query.
            ignoredTokens: tokens == "[]" ? [] : try JSONDecoder().decode(Set<String>.self, from: Data(tokens.utf8)),
            guardianBlocksConsumption: try row.value("guardianBlocksConsumption"),
            minimumWordingVersion: try row.value("minimumWordingVersion"))
    }

    /// Keeps the settings of apps; where those that tell owners are others, owners are to be judged anew.
    ///
    /// What is the same is not written: a start has all apps, of which there may be thousands, and mostly none is another.
    package static func save(_ apps: [App], in database: SQLDatabase) throws {
        var unsaved = Dictionary(apps.map { ($0.slug, $0) }) { first, _ in first }
        var changed: [(app: App, known: App)] = []
        let rows = try SQLRow.fetchRows(database.cachedStatement(sql: "SELECT * FROM appSetting"))
        while let row = try rows.next() {
            let known = try Self.app(row)
            guard let app = unsaved.removeValue(forKey: known.slug), !isSame(app, known) else { continue }
            changed.append((app, known))
        }
        changed += unsaved.values.map { ($0, App(slug: $0.slug, bundleID: "")) }
        for (app, known) in changed { try save(app, over: known, in: database) }
    }

    private static func isSame(_ app: App, _ known: App) -> Bool {
        tellsSameOwners(app, known) && app.guardianBlocksConsumption == known.guardianBlocksConsumption
            && app.minimumWordingVersion == known.minimumWordingVersion
    }

    private static func tellsSameOwners(_ app: App, _ known: App) -> Bool {
        app.userIDs == known.userIDs && app.ignoredTokens == known.ignoredTokens
    }

    private static func save(_ app: App, over known: App, in database: SQLDatabase) throws {
        let tokens = String(decoding: try JSONEncoder().encode(app.ignoredTokens.sorted()), as: UTF8.self)
        try database.cachedStatement(
            sql: """
                INSERT INTO appSetting
                    (app, userIDs, ignoredTokens, guardianBlocksConsumption, minimumWordingVersion, ownersJudgedUpTo)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (app) DO UPDATE SET
                    userIDs = excluded.userIDs, ignoredTokens = excluded.ignoredTokens,
                    guardianBlocksConsumption = excluded.guardianBlocksConsumption,
                    minimumWordingVersion = excluded.minimumWordingVersion,
                    ownersJudgedUpTo = coalesce(excluded.ownersJudgedUpTo, appSetting.ownersJudgedUpTo)
                """
        ).execute(
            arguments: [
                app.slug, app.userIDs.rawValue, tokens, app.guardianBlocksConsumption, app.minimumWordingVersion,
                tellsSameOwners(app, known) ? nil : "",
            ])
    }
}

extension AppSettingRow {
    /// Has the owners of all cases of an app judged anew, in batches.
    ///
    /// - Returns: whether somebody will: the app's settings are kept.
    static func judgeOwnersAnew(app: String, in database: SQLDatabase) throws -> Bool {
        try database.cachedStatement(sql: "UPDATE appSetting SET ownersJudgedUpTo = '' WHERE app = ?")
            .execute(arguments: [app])
        return database.changesCount > 0
    }
}

extension SQLStore {
    /// Keeps the settings of apps, of all in one operation: the rules judge by the new ones from then on, and rows follow in
    /// batches (``refreshOwners(limit:)``).
    ///
    /// - Throws: `storeUnavailable`; nothing has changed then.
    package func keepSettings(of apps: [App]) async throws(ServiceError) {
        try await write("keep the settings of apps") { try AppSettingRow.save(apps, in: $0) }
    }

    package func refreshOwners(limit: Int) async throws(ServiceError) -> Bool {
        let isDue = try await read("look whether owners are to be judged anew") { database in
            try AppSettingRow.due(in: database) != nil
        }
        guard isDue else { return false }
        return try await write("judge owners anew") { database in
            guard let (app, position) = try AppSettingRow.due(in: database) else { return false }
            let ids = try String.fetchAll(
                database,
                sql: "SELECT id FROM refundCase WHERE id > ? AND +app = ? ORDER BY id LIMIT ?",
                arguments: [position, app, limit])
            for id in ids { try CaseRow.refreshOwner(app: app, id: id, in: database) }
            try AppSettingRow.note(ids.count == limit ? ids.last : nil, of: app, in: database)
            return try AppSettingRow.due(in: database) != nil
        }
    }
}

extension AppSettingRow {
    /// An app whose owners are to be judged anew, and behind which case.
    fileprivate static func due(in database: SQLDatabase) throws -> (app: String, position: String)? {
        let statement = try database.cachedStatement(
            sql: "SELECT app, ownersJudgedUpTo FROM appSetting WHERE ownersJudgedUpTo IS NOT NULL ORDER BY app LIMIT 1")
        return try SQLRow.fetchOne(statement).map { (try $0.value("app"), try $0.value("ownersJudgedUpTo")) }
    }

    /// Keeps up to which case owners have been judged; nil when all have.
    fileprivate static func note(_ position: String?, of app: String, in database: SQLDatabase) throws {
        try database.cachedStatement(sql: "UPDATE appSetting SET ownersJudgedUpTo = ? WHERE app = ?")
            .execute(arguments: [position, app])
    }
}
