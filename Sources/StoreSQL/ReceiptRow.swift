import Domain
import Foundation

/// A receipt as it stands in its tables.
struct ReceiptRow {
    /// How much one page of receipts may hold, in bytes of what they say.
    static let maximumPageBytes = 4 << 20

    let receipt: Receipt
    /// How much it takes.
    let bytes: Int

    /// Reads a row with all columns of both tables; `content`: what the receipt says, where that is known.
    private init(_ row: SQLRow, _ content: ReceiptContent?) throws {
        let apple: Data = try row.value("apple")
        let stored: Data = try content == nil ? row.value("content") : Data()
        var said = try content ?? JSONDecoder().decode(StoredReceiptContent.self, from: stored).content
        said.deviceCheck = try row.known("deviceCheck")
        let flags: String = try row.value("flags")
        bytes = apple.count + stored.count
        receipt = Receipt(
            id: try row.value("id"), app: try row.value("app"), digest: try row.bytes("digest"),
            createdAt: try row.date("createdAt"), updatedAt: try row.date("updatedAt"), content: said,
            state: try row.known("state"), fraudReason: try row.knownIfPresent("fraudReason"),
            flags: flags.split(separator: ",").compactMap { ReceiptFlag(rawValue: String($0)) },
            environment: try row.knownIfPresent("environment"), user: try row.userIfPresent("user"),
            countryCode: try row.value("countryCode"),
            identifierForVendor: try row.value("identifierForVendor", as: String?.self).flatMap {
                UUID(uuidString: $0)
            },
            ipAddress: try row.value("ipAddress"), metadata: try row.value("metadata", as: Data?.self).map(Array.init),
            raw: try row.value("raw", as: Data?.self).map(Array.init),
            apple: try StoredApplePurchase.decoded(apple), appTransactionID: try row.value("appTransactionId"),
            checkedAt: try row.dateIfPresent("checkedAt"), unknownSince: try row.dateIfPresent("unknownSince"),
            attempts: try row.value("attempts"), nextAttemptAt: try row.dateIfPresent("nextAttemptAt"))
    }

    static func list(
        _ database: SQLDatabase, of content: ReceiptContent? = nil, _ condition: String,
        _ arguments: SQLArguments
    ) throws -> [ReceiptRow] {
        try SQLRow.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT receipt.*, \(content == nil ? "content" : "x'' AS content"), apple, raw
                    FROM receipt JOIN receiptContent USING (position) WHERE \(condition)
                    """),
            arguments: arguments
        ).map { try ReceiptRow($0, content) }
    }

    /// The receipt of these bytes, which say what `content` does.
    static func fetch(
        digest: [UInt8], of content: ReceiptContent, app: String, _ database: SQLDatabase
    ) throws -> Receipt? {
        try list(database, of: content, "receipt.app = ? AND receipt.digest = ?", [app, Data(digest)]).first?.receipt
    }

    /// The receipt of this id, which says what `content` does.
    static func fetch(id: String, of content: ReceiptContent, app: String, _ database: SQLDatabase) throws -> Receipt? {
        try list(database, of: content, "receipt.app = ? AND receipt.id = ?", [app, id]).first?.receipt
    }

    /// What the receipt says, as its column holds it.
    static func encoded(_ receipt: Receipt) throws(ServiceError) -> Data {
        do {
            return try JSONEncoder().encode(StoredReceiptContent(receipt.content))
        } catch {
            throw ServiceError(.storeUnavailable, "The receipt cannot be kept.", cause: "a value has no JSON")
        }
    }

    static func insert(_ receipt: Receipt, _ content: Data, into database: SQLDatabase) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO receipt (
                    id, app, digest, createdAt, updatedAt, state, fraudReason, flags, deviceCheck, environment, user,
                    countryCode, identifierForVendor, ipAddress, metadata, appTransactionId, checkedAt, unknownSince,
                    attempts, nextAttemptAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [receipt.id, receipt.app, Data(receipt.digest), receipt.createdAt.milliseconds]
                + changeable(receipt))
        try database.cachedStatement(
            sql: "INSERT INTO receiptContent (position, content, apple, raw) VALUES (?, ?, ?, ?)"
        ).execute(
            arguments: [
                try database.lastInsertedRowID(of: "receipt"), content, try StoredApplePurchase.encoded(receipt.apple),
                receipt.raw.map { Data($0) },
            ])
    }

    /// Writes all but what the receipt says and what Apple says.
    static func update(_ receipt: Receipt, in database: SQLDatabase) throws {
        try database.cachedStatement(
            sql: """
                UPDATE receipt SET
                    updatedAt = ?, state = ?, fraudReason = ?, flags = ?, deviceCheck = ?, environment = ?, user = ?,
                    countryCode = ?, identifierForVendor = ?, ipAddress = ?, metadata = ?, appTransactionId = ?,
                    checkedAt = ?, unknownSince = ?, attempts = ?, nextAttemptAt = ?
                WHERE id = ?
                """
        ).execute(arguments: changeable(receipt) + [receipt.id])
    }

    private static func changeable(_ receipt: Receipt) -> SQLArguments {
        [
            receipt.updatedAt.milliseconds, receipt.state.rawValue, receipt.fraudReason?.rawValue,
            receipt.flags.map(\.rawValue).joined(separator: ","), receipt.content.deviceCheck.rawValue,
            receipt.environment?.rawValue, receipt.user.map(LinkRow.bytes), receipt.countryCode,
            receipt.identifierForVendor?.uuidString, receipt.ipAddress, receipt.metadata.map { Data($0) },
            receipt.appTransactionID, receipt.checkedAt?.milliseconds, receipt.unknownSince?.milliseconds,
            receipt.attempts, receipt.nextAttemptAt?.milliseconds,
        ]
    }

    static func updateApple(_ receipt: Receipt, in database: SQLDatabase) throws {
        try updateContent("apple", try StoredApplePurchase.encoded(receipt.apple), of: receipt, in: database)
    }

    static func updateRaw(_ receipt: Receipt, in database: SQLDatabase) throws {
        try updateContent("raw", receipt.raw.map { Data($0) }, of: receipt, in: database)
    }

    private static func updateContent(
        _ column: String, _ value: Data?, of receipt: Receipt, in database: SQLDatabase
    ) throws {
        try database.cachedStatement(
            sql: """
                UPDATE receiptContent SET \(column) = ? WHERE position = (SELECT position FROM receipt WHERE id = ?)
                """
        ).execute(arguments: [value, receipt.id])
    }
}

// MARK: What follows from one

extension ReceiptRow {
    /// Records the links that a confirmed receipt teaches, and that its user has sent its purchases.
    ///
    /// - Returns: whether another user's link stands against one of them, and how many users have sent the purchase that most
    ///   have sent.
    static func learn(
        from receipt: Receipt, _ transactions: [Transaction], at now: Date, in database: SQLDatabase
    ) throws -> (hasConflict: Bool, users: Int) {
        guard let user = receipt.user else { return (false, 0) }
        var hasConflict = false
        for link in ReceiptRules.taught(by: receipt, transactions, at: now) {
            if case .conflict = try LinkRow.learn(link, in: database) { hasConflict = true }
        }
        let identifiers = ReceiptRules.identifiers(of: receipt, transactions)
        let insertion = try database.cachedStatement(
            sql: """
                INSERT INTO receiptUser (app, identifier, user, position)
                VALUES (?, ?, ?, (SELECT position FROM receipt WHERE id = ?))
                ON CONFLICT (app, identifier, user) DO UPDATE SET position = excluded.position
                WHERE receiptUser.position <> excluded.position
                """)
        let count = try database.cachedStatement(
            sql: "SELECT count(*) FROM receiptUser WHERE app = ? AND identifier = ?")
        var users = 0
        for identifier in identifiers {
            try insertion.execute(arguments: [receipt.app, identifier, Data(user.folded.utf8), receipt.id])
            users = max(users, try Int.fetchOne(count, arguments: [receipt.app, identifier]) ?? 0)
        }
        return (hasConflict, users)
    }

    /// Tells what has become of a receipt.
    static func tell(of receipt: Receipt, _ kind: ServiceEvent.Kind, in database: SQLDatabase) throws {
        try EventRow.append(
            ServiceEvent(
                app: receipt.app, kind: kind, subject: receipt.id, at: receipt.updatedAt,
                environment: receipt.environment, transactionID: receipt.content.purchases.first?.transactionID,
                user: receipt.user, detail: receipt.fraudReason?.rawValue),
            to: database)
    }

    /// Removes a user from receipts, and with the user whatever was sent for it; what Apple signed stays.
    static func erase(_ positions: [Int64], of spellings: [UserID], app: String, in database: SQLDatabase) throws {
        for position in positions {
            try database.cachedStatement(
                sql: """
                    UPDATE receipt SET user = NULL, countryCode = NULL, identifierForVendor = NULL, ipAddress = NULL,
                        metadata = NULL
                    WHERE position = ?
                    """
            ).execute(arguments: [position])
            try database.cachedStatement(sql: "UPDATE receiptContent SET raw = NULL WHERE position = ?")
                .execute(arguments: [position])
        }
        for user in spellings {
            try database.cachedStatement(sql: "DELETE FROM receiptUser WHERE app = ? AND user = ?")
                .execute(arguments: [app, Data(user.folded.utf8)])
        }
    }

    /// The identifiers of purchases that came in a user's name.
    static func purchases(of user: UserID, app: String, in database: SQLDatabase) throws -> [String] {
        try String.fetchAll(
            database.cachedStatement(
                sql: "SELECT identifier FROM receiptUser WHERE app = ? AND user = ? ORDER BY identifier"),
            arguments: [app, Data(user.folded.utf8)])
    }
}
