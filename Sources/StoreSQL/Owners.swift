import Domain
import Foundation

/// Whose purchase is it, by `OwnerRule`, from the links as one transaction sees them.
enum OwnerQuery {
    /// The owner of a purchase, if any is known.
    static func owner(of purchase: PurchaseFacts, app: String, in database: SQLDatabase) throws -> UserID? {
        let links = try links(app: app, to: purchase.linkTargets, in: database)
        // The users and the settings say what a token means.
        guard let token = purchase.appAccountToken else {
            return OwnerRule(links: links, users: []).owner(of: purchase)
        }
        return OwnerRule(
            links: links, users: try knownUsers(app: app, token, in: database),
            app: try AppSettingRow.fetch(app, from: database)
        ).owner(of: purchase)
    }

    /// The owner of what an answer is about, if any is known.
    ///
    /// As long as nothing is known of the purchase, a token that Apple accepted for its transaction id, and the links of that
    /// id, tell.
    ///
    /// `presence`: what there is about it.
    static func owner(
        of subject: ConsentSubject, _ presence: FactPresence = .all, in database: SQLDatabase
    ) throws -> UserID? {
        if let purchase = subject.purchase {
            let effective = try PurchaseTokenRow.effective(purchase, app: subject.app, presence, in: database)
            return try owner(of: effective, app: subject.app, in: database)
        }
        if presence.contains(.acceptedTokens),
            let token = try PurchaseTokenRow.accepted(
                for: subject.transactionID, app: subject.app, subject.environment, in: database),
            let user = try userNamed(by: token, app: subject.app, in: database)
        {
            return user
        }
        guard presence.contains(.links) else { return nil }
        return try links(app: subject.app, to: subject.linkTargets, in: database)
            .last { $0.isInForce && $0.covers(subject.environment) }?.user
    }

    /// Every spelling of a user's id under which something is kept, and the one given.
    static func spellings(of user: UserID, app: String, in database: SQLDatabase) throws -> [UserID] {
        guard user.isUUID else { return [user] }
        let folded = LinkRow.folded(user.value)
        let rows = try Data.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT user FROM link WHERE app = ? AND userFolded = ?
                    UNION SELECT user FROM consent WHERE app = ? AND userFolded = ?
                    """),
            arguments: [app, folded, app, folded])
        let known = try rows.map(LinkRow.user) + [user, try UserID(user.folded), try UserID(user.value.uppercased())]
        return Set(known).sorted { $0.value < $1.value }
    }

    /// The links to these identifiers, ended ones included, in the order they were recorded.
    private static func links(app: String, to targets: [LinkTarget], in database: SQLDatabase) throws -> [Link] {
        try LinkRow.list(to: targets, app: app, from: database).map(\.link)
    }

    /// Whom the token of a purchase names.
    static func userNamed(byTokenOf purchase: PurchaseFacts, app: String, in database: SQLDatabase) throws -> UserID? {
        guard let token = purchase.appAccountToken else { return nil }
        return try tokenRule(token, app: app, in: database).owner(of: purchase)
    }

    /// Whom a token names, in either environment.
    private static func userNamed(by token: String, app: String, in database: SQLDatabase) throws -> UserID? {
        let rule = try tokenRule(token, app: app, in: database)
        for environment in AppStoreEnvironment.allCases {
            let purchase = PurchaseFacts(
                environment: environment, transactionID: "", originalTransactionID: "", appAccountToken: token,
                purchaseDate: .distantPast)
            if let user = rule.owner(of: purchase) { return user }
        }
        return nil
    }

    /// The rule with nothing but what names the user of a token.
    private static func tokenRule(_ token: String, app: String, in database: SQLDatabase) throws -> OwnerRule {
        OwnerRule(
            links: try links(app: app, to: [LinkTarget(.appAccountToken, token)], in: database),
            users: try knownUsers(app: app, token, in: database), app: try AppSettingRow.fetch(app, from: database))
    }

    /// The users with a link in force or a record of consent whose id is this one, compared without case.
    private static func knownUsers(app: String, _ id: String, in database: SQLDatabase) throws -> Set<UserID> {
        let folded = LinkRow.folded(id)
        let statement = try database.cachedStatement(sql: usersByFoldedID(count: 1))
        return Set(try Data.fetchAll(statement, arguments: [app, folded, app, folded]).map(LinkRow.user))
    }

    /// The query for known users: its arguments are the app and the folded ids, twice.
    static func usersByFoldedID(count: Int) -> String {
        let list = SQLList.placeholders(count)
        return """
            SELECT user FROM link WHERE app = ? AND validUntil IS NULL AND userFolded IN (\(list))
            UNION SELECT user FROM consent WHERE app = ? AND userFolded IN (\(list))
            """
    }
}

extension CaseRow {
    /// How many cases get their owner within the operation that changes it.
    static let maximumRefreshed = 200

    /// Gives the cases that these identifiers name their owner anew, by the owner rule: where they are many, as of a token that
    /// an app gave to all its purchases, some now and the others with all of the app, in batches.
    ///
    /// After a change of links: name the links' targets, and as an `appAccountToken` each user who gained or lost one, since
    /// the token may be a user's id.
    ///
    /// `isBounded`: false where not one may be left, however many there are.
    static func refreshOwners(
        app: String, targets: Set<LinkTarget>, isBounded: Bool = true, in database: SQLDatabase
    ) throws {
        var ids: Set<String> = []
        for target in targets {
            // One statement for each kind, so that each finds its index.
            let statement = try database.cachedStatement(
                sql: "SELECT id FROM refundCase WHERE app = ? AND \(target.kind.rawValue) = ? LIMIT ?")
            let limit = isBounded ? maximumRefreshed + 1 : Int.max
            ids.formUnion(try String.fetchSet(statement, arguments: [app, target.value, limit]))
        }
        if isBounded, ids.count > maximumRefreshed, try !AppSettingRow.judgeOwnersAnew(app: app, in: database) {
            // Nobody would go on with them: the configuration does not name the app.
            return try refreshOwners(app: app, targets: targets, isBounded: false, in: database)
        }
        for id in isBounded ? Array(ids.prefix(maximumRefreshed)) : Array(ids) {
            try refreshOwner(app: app, id: id, in: database)
        }
    }

    /// Gives a case its owner anew.
    static func refreshOwner(app: String, id: String, in database: SQLDatabase) throws {
        guard let refundCase = try fetch(app: app, id: id, from: database) else { return }
        let owner = try OwnerQuery.owner(of: refundCase.purchase, app: app, in: database)
        guard owner != refundCase.owner else { return }
        try database.cachedStatement(sql: "UPDATE refundCase SET owner = ? WHERE id = ?")
            .execute(arguments: [owner.map(LinkRow.bytes), id])
    }
}

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
        of user: UserID, app: String, _ extent: Extent, in database: SQLDatabase
    ) throws -> [DeliveryRow] {
        var rows: [String: DeliveryRow] = [:]
        for spelling in try OwnerQuery.spellings(of: user, app: app, in: database) {
            for row in try named(spelling, app, extent, in: database) { rows[row.delivery.id] = row }
            // The owner of a case may be that of a moment ago.
            let candidates =
                try ofCases(spelling, app, extent, in: database) + candidates(spelling, app, extent, in: database)
            for row in candidates where rows[row.delivery.id] == nil {
                let subject = try PurchaseRow.resolve(ConsentSubject(row.delivery), from: database)
                let owner = try OwnerQuery.owner(of: subject, in: database)
                if owner?.isSameUser(as: user) ?? false { rows[row.delivery.id] = row }
            }
        }
        return rows.values.sorted { $0.delivery.id < $1.delivery.id }
    }

    /// Those that were accepted for the user.
    private static func named(
        _ user: UserID, _ app: String, _ extent: Extent, in database: SQLDatabase
    ) throws -> [DeliveryRow] {
        try DeliveryRow.list(
            database,
            sql: "SELECT \(DeliveryRow.columns) FROM delivery WHERE app = ? AND acceptedFor = ?\(extent.condition)",
            arguments: [app, LinkRow.bytes(user)])
    }

    /// Those of its cases.
    private static func ofCases(
        _ user: UserID, _ app: String, _ extent: Extent, in database: SQLDatabase
    ) throws -> [DeliveryRow] {
        try DeliveryRow.list(
            database,
            sql: """
                SELECT \(DeliveryRow.columns) FROM refundCase CROSS JOIN delivery ON delivery.caseId = refundCase.id
                WHERE refundCase.app = ? AND refundCase.owner = ?\(extent.condition)
                """,
            arguments: [app, LinkRow.bytes(user)])
    }

    /// Those with an identifier that the user's links name, or with the user's id as `appAccountToken`.
    private static func candidates(
        _ user: UserID, _ app: String, _ extent: Extent, in database: SQLDatabase
    ) throws -> [DeliveryRow] {
        try targets(of: user, app: app, in: database).flatMap { target in
            try DeliveryRow.list(
                database,
                sql:
                    "SELECT \(DeliveryRow.columns) FROM delivery WHERE app = ? AND \(target.kind.column) = ?\(extent.condition)",
                arguments: [app, target.value])
        }
    }

    /// The identifiers that the user's links name, ended ones included, and the user's id as an `appAccountToken`.
    static func targets(of user: UserID, app: String, in database: SQLDatabase) throws -> Set<LinkTarget> {
        let links = try LinkRow.list(of: user, app: app, from: database)
        return Set(links.map(\.link.target) + [LinkTarget(.appAccountToken, user.value)])
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
