package import Domain
import Foundation

extension SQLStore {
    package func recordConsent(_ record: ConsentRecord) async throws(ServiceError) -> EndedDeliveries {
        try await write("record consent") { [tombstones] database in
            try ConsentRow.insert(record, into: database)
            // Whoever is known by a record alone may own what was signed with its id as token.
            let token = LinkTarget(.appAccountToken, record.user.value)
            try CaseRow.refreshOwners(app: record.app, targets: [token], in: database)
            try LinkRow.learnFromNotifications(token, app: record.app, at: record.recordedAt, in: database)
            guard !record.isConsented else {
                try tombstones.remove(record.user, app: record.app, in: database)
                return EndedDeliveries(cancelled: [], sending: [])
            }
            let rows = try UserDeliveries.list(of: record.user, app: record.app, .underWay, in: database)
            let (cancelled, sending) = try DeliveryRow.cancel(
                rows, because: DeliveryFailure(ConsentObjection.withdrawn(record.user).error), at: record.recordedAt,
                in: database)
            return EndedDeliveries(cancelled: cancelled, sending: sending)
        }
    }

    package func consentHistory(app: String, user: UserID) async throws(ServiceError) -> [ConsentRecord] {
        try await read("read a user's consent") { try ConsentRow.history(app: app, user: user, from: $0) }
    }

    package func owner(of subject: ConsentSubject) async throws(ServiceError) -> UserID? {
        try await read("ask whose a purchase is") {
            try OwnerQuery.owner(of: PurchaseRow.resolve(subject, from: $0), in: $0)
        }
    }

    package func rescissions(app: String, user: UserID) async throws(ServiceError) -> [GuardianRescission] {
        try await read("read what guardians rescinded") { [tombstones] database in
            try ConsentQuery.rescissions(of: user, app: app, tombstones, in: database)
        }
    }
}

/// Whether somebody's withdrawal stands against an answer, by `ConsentRules`, as one transaction sees links and consent.
enum ConsentQuery {
    /// What guardians rescinded for the Apple Accounts of a user and nobody has lifted since, latest last.
    static func rescissions(
        of user: UserID, app: String, _ tombstones: Tombstones, in database: SQLDatabase
    ) throws -> [GuardianRescission] {
        guard try RescissionRow.hasAny(app: app, nil, in: database) else { return [] }
        let lifted = try ConsentRow.guardianConsent(app: app, user: user, before: nil, from: database)
        return try LinkRow.accounts(of: user, app: app, from: database).compactMap { account in
            try RescissionRow.latest(
                of: account.id, app: app, account.environment, tombstones, in: database
            ).map { GuardianRescission(environment: account.environment, at: $0) }
        }
        .filter { $0.at >= lifted ?? .distantPast }.sorted { $0.at < $1.at }
    }

    static func objection(
        to subject: ConsentSubject, _ tombstones: Tombstones, in database: SQLDatabase
    ) throws -> ConsentObjection? {
        try judgement(of: subject, FactPresence.of(subject, in: database), tombstones, in: database).objection
    }

    /// Whose a purchase is, and what stands against an answer about it.
    static func judgement(
        of subject: ConsentSubject, _ presence: FactPresence, _ tombstones: Tombstones, in database: SQLDatabase
    ) throws -> (owner: UserID?, objection: ConsentObjection?) {
        var situation = ConsentRules.Situation()
        situation.owner = try OwnerQuery.owner(of: subject, presence, in: database)
        let mayBeErased = presence.contains(.tombstones)
        for user in Set([subject.user, situation.owner].compactMap(\.self)) {
            situation.latest += try ConsentRow.latest(app: subject.app, user: user, from: database)
            if try mayBeErased && tombstones.isErased(user, app: subject.app, in: database) {
                situation.erasedUsers.append(user)
            }
        }
        if presence.contains(.rescissions), let environment = subject.purchase?.environment ?? subject.environment,
            let account = try subject.purchase?.appTransactionID
                ?? KnownIdentifierRow.account(of: subject.transactionID, app: subject.app, environment, database)
        {
            situation.rescindedAt = try RescissionRow.latest(
                of: account, app: subject.app, environment, tombstones, in: database)
        }
        if situation.rescindedAt != nil, let owner = situation.owner {
            situation.guardianConsentAt = try ConsentRow.guardianConsent(
                app: subject.app, user: owner, before: subject.madeAt, from: database)
        }
        // Nothing else looks at the settings.
        if situation.rescindedAt != nil || subject.isByPolicy {
            situation.app = try AppSettingRow.fetch(subject.app, from: database)
        }
        situation.isErasedPurchase =
            try mayBeErased && tombstones.isErased(subject.linkTargets, app: subject.app, in: database)
        return (situation.owner, ConsentRules.objection(to: subject, situation))
    }
}

/// A record of consent as it stands in its table.
enum ConsentRow {
    static func insert(_ record: ConsentRecord, into database: SQLDatabase) throws {
        try database.execute(
            sql: """
                INSERT INTO consent
                    (app, user, isConsented, source, at, recordedAt, recordedBy, userFolded, wordingVersion, locale,
                     isByGuardian)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                record.app, LinkRow.bytes(record.user), record.isConsented, Data(record.source.utf8),
                record.at.milliseconds, record.recordedAt.milliseconds, record.recordedBy,
                LinkRow.folded(record.user.value), record.wordingVersion, record.locale, record.isByGuardian,
            ])
    }

    /// Every record of a user, oldest first.
    static func history(app: String, user: UserID, from database: SQLDatabase) throws -> [ConsentRecord] {
        try SQLRow.fetchAll(
            database, sql: "SELECT * FROM consent WHERE app = ? AND user = ? ORDER BY position",
            arguments: [app, LinkRow.bytes(user)]
        ).map(record)
    }

    /// The record of a user that decides.
    static func latest(app: String, exactly user: UserID, from database: SQLDatabase) throws -> ConsentRecord? {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM consent WHERE app = ? AND user = ? ORDER BY position DESC LIMIT 1")
        return try SQLRow.fetchAll(statement, arguments: [app, LinkRow.bytes(user)]).first.map(record)
    }

    /// The records that decide: one for each spelling of the user's id.
    static func latest(app: String, user: UserID, from database: SQLDatabase) throws -> [ConsentRecord] {
        guard user.isUUID else { return try [latest(app: app, exactly: user, from: database)].compactMap(\.self) }
        let users = try Data.fetchSet(
            database.cachedStatement(sql: "SELECT user FROM consent WHERE app = ? AND userFolded = ?"),
            arguments: [app, LinkRow.folded(user.value)])
        return try users.compactMap { try latest(app: app, exactly: LinkRow.user($0), from: database) }
    }

    /// When a guardian last consented for a user, in whatever spelling of the id, up to a time.
    static func guardianConsent(
        app: String, user: UserID, before end: Date?, from database: SQLDatabase
    ) throws -> Date? {
        let rows = try SQLRow.fetchAll(
            database.cachedStatement(
                sql: "SELECT * FROM consent WHERE app = ? AND userFolded = ? AND isByGuardian = 1 AND isConsented = 1"),
            arguments: [app, LinkRow.folded(user.value)])
        return try rows.map(record).filter { $0.user.isSameUser(as: user) }.map(\.recordedAt)
            .filter { $0 <= end ?? .distantFuture }.max()
    }

    /// The record at a position.
    static func fetch(_ position: Int64, from database: SQLDatabase) throws -> ConsentRecord? {
        try SQLRow.fetchOne(
            database.cachedStatement(sql: "SELECT * FROM consent WHERE position = ?"), arguments: [position]
        ).map(record)
    }

    private static func record(_ row: SQLRow) throws -> ConsentRecord {
        guard let user = try row.userIfPresent("user") else {
            throw SQLError.damaged("a record of consent without a user")
        }
        return ConsentRecord(
            app: try row.value("app"), user: user, isConsented: try row.value("isConsented"),
            source: String(decoding: try row.bytes("source"), as: UTF8.self), at: try row.date("at"),
            recordedAt: try row.date("recordedAt"), recordedBy: try row.value("recordedBy"),
            wordingVersion: try row.value("wordingVersion"), locale: try row.value("locale"),
            isByGuardian: try row.value("isByGuardian"))
    }
}
