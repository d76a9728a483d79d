import Domain
import GRDB

/// Which deliveries are a user's: those that name it, those of its cases, and those of purchases that are its own by the
/// owner rule.
enum UserDeliveries {
    enum Extent {
        /// Queued or being sent.
        case underWay
        case all

        // The sign keeps the indexes of what is under way out: the user's deliveries are fewer.
        fileprivate var condition: String {
            switch self {
            case .underWay: " AND +delivery.endedAt IS NULL"
            case .all: ""
            }
        }
    }

    /// The user's deliveries, oldest first.
    static func list(
        of user: UserID, app: String, _ extent: Extent, in database: Database
    ) throws -> [DeliveryRow] {
        var rows: [String: DeliveryRow] = [:]
        for row in try named(user, app, extent, in: database) { rows[row.delivery.id] = row }
        for row in try candidates(user, app, extent, in: database) where rows[row.delivery.id] == nil {
            if try OwnerQuery.owner(of: ConsentSubject(row.delivery), in: database) == user {
                rows[row.delivery.id] = row
            }
        }
        return rows.values.sorted { $0.delivery.id < $1.delivery.id }
    }

    /// Those that name the user, and those of its cases.
    private static func named(
        _ user: UserID, _ app: String, _ extent: Extent, in database: Database
    ) throws -> [DeliveryRow] {
        let user = LinkRow.bytes(user)
        let direct = try DeliveryRow.list(
            database, sql: "SELECT * FROM delivery WHERE app = ? AND user = ?\(extent.condition)",
            arguments: [app, user])
        let ofCases = try DeliveryRow.list(
            database,
            sql: """
                SELECT delivery.* FROM refundCase CROSS JOIN delivery ON delivery.caseId = refundCase.id
                WHERE refundCase.app = ? AND refundCase.owner = ?\(extent.condition)
                """,
            arguments: [app, user])
        return direct + ofCases
    }

    /// Those with an identifier that the user's links name, or with the user's id as `appAccountToken`.
    private static func candidates(
        _ user: UserID, _ app: String, _ extent: Extent, in database: Database
    ) throws -> [DeliveryRow] {
        try targets(of: user, app: app, in: database).flatMap { target in
            try DeliveryRow.list(
                database,
                sql: "SELECT * FROM delivery WHERE app = ? AND \(target.kind.column) = ?\(extent.condition)",
                arguments: [app, target.value])
        }
    }

    /// The identifiers that the user's links name, ended ones included, and the user's id as an `appAccountToken`.
    static func targets(of user: UserID, app: String, in database: Database) throws -> Set<LinkTarget> {
        let links = try Row.fetchAll(
            database, sql: "SELECT * FROM link WHERE app = ? AND user = ?", arguments: [app, LinkRow.bytes(user)])
        return Set(try links.map { try LinkRow($0).link.target } + [LinkTarget(.appAccountToken, user.value)])
    }
}

extension LinkTarget.Kind {
    /// The column of a delivery's purchase.
    fileprivate var column: String {
        switch self {
        case .transactionId: "transactionId"
        case .originalTransactionId: "originalTransactionId"
        case .appTransactionId: "appTransactionId"
        case .appAccountToken: "appAccountToken"
        }
    }
}
