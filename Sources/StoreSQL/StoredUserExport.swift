package import Domain

extension SQLStore {
    package func inventory(app: String, user: UserID) async throws(ServiceError) -> UserInventory {
        let (found, isNamed) = try await read("find what is kept of a user") { [tombstones] database in
            (
                try UserInventory(of: user, app: app, tombstones, in: database),
                try AuditPseudonymRow.fetch(of: user, app: app, from: database) != nil
            )
        }
        guard !found.isEmpty, !isNamed else { return found }
        return try await write("name a user whose data is given out") { [tombstones] database in
            // Again: the user may have been erased meanwhile.
            guard try !UserInventory(of: user, app: app, tombstones, in: database).isEmpty else {
                return UserInventory()
            }
            _ = try AuditPseudonymRow.make(of: user, app: app, in: database)
            return try UserInventory(of: user, app: app, tombstones, in: database)
        }
    }

    package func records(
        app: String, user: UserID, _ part: UserInventory.Part, _ keys: ArraySlice<UserInventory.Key>
    ) async throws(ServiceError) -> UserExport.Page {
        try await read("read what is kept of a user") { database in
            var page = UserExport.Page()
            for key in keys {
                guard let record = try UserRecord(part, key, app: app, of: user, from: database) else { continue }
                if record.user?.isSameUser(as: user) ?? true {
                    page.records.append(record)
                } else {
                    page.withheld += 1
                }
            }
            return page
        }
    }
}

extension UserInventory {
    /// Finds what is kept of a user.
    fileprivate init(of user: UserID, app: String, _ tombstones: Tombstones, in database: SQLDatabase) throws {
        let footprint = try UserFootprint(of: user, app: app, in: database)
        self.init()
        for part in Part.allCases {
            let found = try footprint.keys(of: part, database)
            if !found.isEmpty { keys[part] = found }
        }
        purchaseTokens = try PurchaseTokenRow.list(footprint.tokens, app: app, in: database)
        idempotencyKeys = try footprint.deliveries.flatMap {
            try IdempotencyKeyRow.list(ofDelivery: $0.delivery.id, from: database)
        }
        receiptPurchases = try ReceiptRow.purchases(of: user, app: app, in: database)
        // That of the spelling that was asked for comes first.
        let spellings = [user] + footprint.spellings.filter { $0 != user }
        auditPseudonyms = try spellings.compactMap { try AuditPseudonymRow.fetch(of: $0, app: app, from: database) }
        guard tombstones.hold == nil else {
            (rescissions, isErasedWithdrawalKept) = (nil, nil)
            return
        }
        rescissions = try ConsentQuery.rescissions(of: user, app: app, tombstones, in: database)
        isErasedWithdrawalKept = try tombstones.isErased(user, app: app, in: database)
    }
}

extension UserFootprint {
    /// What finds the records of a part.
    fileprivate func keys(of part: UserInventory.Part, _ database: SQLDatabase) throws -> [UserInventory.Key] {
        switch part {
        case .links: try positions(in: .link, database).map { .position($0) }
        case .consent: try positions(in: .consent, database).map { .position($0) }
        case .usage: usage.map { .position($0) }
        case .cases: cases.map { .id($0.id) }
        case .deliveries: deliveries.map { .id($0.delivery.id) }
        case .notifications: notifications.map { .position($0) }
        case .appleAnswers: answers.map { .position($0) }
        case .quarantinedNotifications: quarantined.map { .position($0) }
        case .receipts: receipts.map { .position($0) }
        case .events: try positions(in: .event, database).map { .position($0) }
        }
    }
}

extension UserRecord {
    /// Reads a record; nil where it is not there any more.
    fileprivate init?(
        _ part: UserInventory.Part, _ key: UserInventory.Key, app: String, of user: UserID, from database: SQLDatabase
    ) throws {
        let record: UserRecord? =
            switch key {
            case .id(let id): try Self.fetch(part, id, app: app, of: user, from: database)
            case .position(let position): try Self.fetch(part, position, app: app, of: user, from: database)
            }
        guard let record else { return nil }
        self = record
    }

    private static func fetch(
        _ part: UserInventory.Part, _ id: String, app: String, of user: UserID, from database: SQLDatabase
    ) throws -> UserRecord? {
        switch part {
        case .cases:
            guard var found = try CaseRow.fetch(app: app, id: id, from: database) else { return nil }
            // Many cases get their owner in batches only.
            found.owner = try OwnerQuery.owner(of: found.purchase, app: app, in: database) ?? found.owner
            return .refundCase(found)
        case .deliveries:
            return try DeliveryRow.present(app: app, id: id, from: database).map { .delivery($0.naming(user)) }
        default: return nil
        }
    }

    private static func fetch(
        _ part: UserInventory.Part, _ position: Int64, app: String, of user: UserID, from database: SQLDatabase
    ) throws -> UserRecord? {
        switch part {
        case .links:
            try SQLRow.fetchOne(database.cachedStatement(sql: "SELECT * FROM link WHERE id = ?"), arguments: [position])
                .map { .link(try LinkRow($0).link) }
        case .consent: try ConsentRow.fetch(position, from: database).map { .consent($0) }
        case .usage:
            try UsageRow.list(database, "position = ?", [app, position]).first.map { .usage($0.report) }
        case .notifications:
            try NotificationRow.list(
                database, sql: "\(NotificationRow.columns) WHERE position = ?", arguments: [position]
            ).first.map { .notification($0.notification) }
        case .appleAnswers: try AppleAnswerRow.fetch(position, from: database).map { .answer($0.answer) }
        case .quarantinedNotifications:
            try SQLRow.fetchOne(
                database.cachedStatement(sql: "SELECT * FROM quarantine WHERE position = ?"), arguments: [position]
            ).map { .quarantined(try QuarantineRow.notification($0)) }
        case .receipts:
            try ReceiptRow.list(database, "receipt.position = ?", [position]).first.map { .receipt($0.receipt) }
        case .events:
            try EventRow.list(database, sql: "SELECT * FROM event WHERE position = ?", arguments: [position])
                .first.map { .event($0) }
        case .cases, .deliveries: nil
        }
    }
}

extension Delivery {
    /// The delivery without a failure that names another user, whose withdrawal ended it.
    fileprivate func naming(_ user: UserID) -> Delivery {
        guard let failure, failure.reason == .consentWithdrawn,
            !failure.message.lowercased().contains("`\(user.folded.lowercased())`")
        else { return self }
        var copy = self
        copy.failure = DeliveryFailure(
            reason: failure.reason, message: "Somebody has withdrawn consent.", apple: failure.apple)
        return copy
    }
}
