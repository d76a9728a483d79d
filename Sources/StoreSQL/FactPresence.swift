import Domain

/// Of which kinds there is anything about a purchase, found out by one statement.
///
/// Most answers are about a purchase of which nothing is known, and a question without an answer costs nearly as much as one
/// with: this one saves the others. What it names may still turn out to be about another environment; what it does not name
/// is not there.
struct FactPresence: OptionSet, Sendable {
    /// Notifications of the purchase, or rescissions of its Apple Account, that are still to be applied.
    static let pending = FactPresence(rawValue: 1 << 0)
    static let cases = FactPresence(rawValue: 1 << 1)
    static let deliveries = FactPresence(rawValue: 1 << 2)
    /// Notifications of the transaction.
    static let notifications = FactPresence(rawValue: 1 << 3)
    /// What Apple decided, by notifications that have been applied.
    static let outcomes = FactPresence(rawValue: 1 << 4)
    /// The token in what Apple signed.
    static let signedToken = FactPresence(rawValue: 1 << 5)
    /// Tokens that Apple accepted from us.
    static let acceptedTokens = FactPresence(rawValue: 1 << 6)
    /// Rescinded consent for any account of the app.
    static let rescissions = FactPresence(rawValue: 1 << 7)
    /// What erased users' withdrawals left, in any app.
    static let tombstones = FactPresence(rawValue: 1 << 8)
    /// Links of the transaction id, ended ones too.
    static let links = FactPresence(rawValue: 1 << 9)
    /// Whatever can be, for who has not asked.
    static let all = FactPresence(rawValue: 0x3FF)

    let rawValue: Int64

    /// What there is about an answer's purchase; as long as that is not known, about its transaction id.
    static func of(_ subject: ConsentSubject, in database: SQLDatabase) throws -> FactPresence {
        let statement = try database.cachedStatement(sql: question)
        let purchase = subject.purchase
        let found = try Int64.fetchOne(
            statement,
            arguments: [
                subject.app, subject.transactionID, purchase?.originalTransactionID, purchase?.appTransactionID,
                (purchase?.environment ?? subject.environment)?.rawValue,
            ])
        return FactPresence(rawValue: found ?? 0)
    }

    /// The parameters: app, transaction id, original transaction id, Apple Account, environment; what is not known is NULL,
    /// which no row is equal to.
    private static let question =
        "SELECT "
        + conditions.map { "CASE WHEN \($0.sql) THEN \($0.kind.rawValue) ELSE 0 END" }.joined(separator: " + ")

    private static let conditions: [(kind: FactPresence, sql: String)] = [
        (
            .pending,
            """
            EXISTS (SELECT 1 FROM notification WHERE app = ?1 AND transactionId = ?2 AND +processedAt IS NULL)
            OR EXISTS (SELECT 1 FROM notification WHERE app = ?1 AND originalTransactionId = ?3 AND +processedAt IS NULL)
            OR EXISTS (SELECT 1 FROM notification
                WHERE processedAt IS NULL AND type = 'RESCIND_CONSENT' AND app = ?1 AND appTransactionId = ?4)
            """
        ),
        (.cases, ofPurchase("refundCase")),
        (.deliveries, ofPurchase("delivery")),
        (.notifications, "EXISTS (SELECT 1 FROM notification WHERE app = ?1 AND transactionId = ?2)"),
        (
            .outcomes,
            """
            EXISTS (SELECT 1 FROM notification
                WHERE app = ?1 AND originalTransactionId = ?3 AND processedAt IS NOT NULL
                    AND +type IN (\(CaseRow.outcomeTypes)))
            """
        ),
        (
            .signedToken,
            "EXISTS (SELECT 1 FROM signedToken WHERE app = ?1 AND environment = ?5 AND transactionId = ?2)"
        ),
        (
            .acceptedTokens,
            "EXISTS (SELECT 1 FROM acceptedToken WHERE app = ?1 AND originalTransactionId = coalesce(?3, ?2))"
        ),
        (.rescissions, "EXISTS (SELECT 1 FROM rescission WHERE app = ?1)"),
        (.tombstones, "EXISTS (SELECT 1 FROM tombstone WHERE hash > x'')"),
        (
            .links,
            """
            EXISTS (SELECT 1 FROM link
                WHERE app = ?1 AND kind = '\(LinkTarget.Kind.transactionId.rawValue)' AND value = ?2)
            """
        ),
    ]

    private static func ofPurchase(_ table: String) -> String {
        """
        EXISTS (SELECT 1 FROM \(table) WHERE app = ?1 AND transactionId = ?2)
        OR EXISTS (SELECT 1 FROM \(table) WHERE app = ?1 AND originalTransactionId = ?3)
        """
    }
}

/// An answer's purchase as far as it is known here, with what there is about it.
struct KnownSubject {
    let subject: ConsentSubject
    let presence: FactPresence

    init(_ subject: ConsentSubject, in database: SQLDatabase) throws {
        let presence = try FactPresence.of(subject, in: database)
        let known = try PurchaseRow.resolve(subject, presence, from: database)
        self.subject = known
        // What is known of the purchase now tells more to ask for.
        self.presence = known == subject ? presence : try FactPresence.of(known, in: database)
    }
}
