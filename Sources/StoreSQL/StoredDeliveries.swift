package import Domain
package import Foundation

extension SQLStore {
    package func delivery(
        for key: IdempotencyKey, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, requestDigest: [UInt8])? {
        try await glance("look an idempotency key up") { try IdempotencyKeyRow.delivery(for: key, at: now, from: $0) }
    }

    package func remember(
        _ key: IdempotencyKey, requestDigest: [UInt8], deliveryID: String, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, requestDigest: [UInt8])? {
        try await write("keep an idempotency key") { database in
            if let known = try IdempotencyKeyRow.delivery(for: key, at: now, from: database) { return known }
            try IdempotencyKeyRow.save(key, requestDigest: requestDigest, deliveryID: deliveryID, at: now, in: database)
            return nil
        }
    }

    package func accept(
        _ draft: DeliveryDraft
    ) async throws(ServiceError) -> (decision: AcceptRules.Decision, ended: EndedDeliveries) {
        try tombstones.check()
        return try await write("take a delivery over") { [effects, tombstones] database in
            let new = draft.delivery
            var ended = EndedDeliveries.none
            var known = try KnownSubject(draft.subject, in: database)
            if known.presence.contains(.pending) {
                ended = try effects.applyPending(for: known.subject, at: new.createdAt, in: database)
                known = try KnownSubject(draft.subject, in: database)
            }
            var situation = AcceptRules.Situation()
            if let key = draft.idempotencyKey {
                situation.keyed = try IdempotencyKeyRow.delivery(for: key, at: new.createdAt, from: database)
            }
            situation.purchase = try PurchaseRow.situation(of: known, from: database)
            (situation.owner, situation.objection) = try ConsentQuery.judgement(
                of: known.subject, known.presence, tombstones, in: database)
            if new.policy != nil, let caseID = new.caseID {
                situation.policyAnswer = try DeliveryRow.ofCase(id: caseID, app: new.app, from: database)
                    .first { $0.policy != nil }
            }
            let decision = AcceptRules.decide(draft, situation)
            let delivery: Delivery
            switch decision {
            case .created(let created):
                try DeliveryRow.insert(created, into: database)
                delivery = created
            case .existing(let existing): delivery = existing
            case .keyReused, .anotherUnderWay, .caseClosed, .refunded, .withdrawn: return (decision, ended)
            }
            if let key = draft.idempotencyKey, situation.keyed == nil {
                try IdempotencyKeyRow.save(
                    key, requestDigest: draft.requestDigest, deliveryID: delivery.id, at: new.createdAt, in: database)
            }
            return (decision, ended)
        }
    }

    package func obstacle(
        to delivery: Delivery, at now: Date
    ) async throws(ServiceError) -> (obstacle: DeliveryFailure?, ended: EndedDeliveries) {
        try tombstones.check()
        let subject = ConsentSubject(delivery)
        let look = try await read("ask whether a delivery may be sent") { [tombstones] database in
            let presence = try FactPresence.of(subject, in: database)
            let isPending = presence.contains(.pending)
            return (
                isPending, isPending ? nil : try DeliveryRow.obstacle(to: delivery, presence, tombstones, in: database)
            )
        }
        guard look.0 else { return (look.1, .none) }
        return try await write("apply what was told before a delivery is sent") { [effects, tombstones] database in
            let ended = try effects.applyPending(for: subject, at: now, in: database)
            let presence = try FactPresence.of(subject, in: database)
            return (try DeliveryRow.obstacle(to: delivery, presence, tombstones, in: database), ended)
        }
    }

    package func mustKnowAccount(
        app: String, environment: AppStoreEnvironment?
    ) async throws(ServiceError) -> Bool {
        try await glance("look for rescinded consent") { database in
            try RescissionRow.hasAny(app: app, environment, in: database)
                || RescissionRow.isAnyPending(app: app, in: database)
        }
    }

    package func delivery(app: String, id: String) async throws(ServiceError) -> Delivery? {
        try await read("read a delivery") { try DeliveryRow.present(app: app, id: id, from: $0) }
    }

    package func deliveries(app: String, _ query: DeliveryQuery) async throws(ServiceError) -> [Delivery] {
        try await read("list deliveries") { try DeliveryRow.page($0, app: app, query) }
    }

    package func cancelDelivery(
        app: String, id: String, because failure: DeliveryFailure, at now: Date
    ) async throws(ServiceError) -> (delivery: Delivery, isChanged: Bool)? {
        try await write("cancel a delivery") { database in
            guard let row = try DeliveryRow.fetch(app: app, id: id, from: database) else { return nil }
            switch row.delivery.state {
            case .queued: return (try row.end(as: .cancelled, because: failure, at: now, in: database), true)
            case .sending: return (row.delivery, try row.askForEnd(because: failure, in: database))
            case .accepted, .refused, .expired, .cancelled: return (row.delivery, false)
            }
        }
    }

    package func deliveryBacklog() async throws(ServiceError) -> [DeliveryBacklog] {
        try await read("count the deliveries under way") { database in
            let oldest = try database.cachedStatement(
                sql: """
                    SELECT createdAt FROM delivery WHERE app = ? AND state = ? AND endedAt IS NULL ORDER BY id LIMIT 1
                    """)
            let counts = try database.cachedStatement(
                sql: "SELECT app, state, count FROM deliveryCount WHERE app > '' AND count > 0")
            return try SQLRow.fetchAll(counts).compactMap { row in
                let (app, state) = (try row.value("app", as: String.self), try row.value("state", as: String.self))
                let first = try Int64.fetchOne(oldest, arguments: [app, state])
                return try first.map { createdAt in
                    DeliveryBacklog(
                        app: app, state: try row.known("state"), count: try row.value("count"),
                        oldestCreatedAt: Date(milliseconds: createdAt))
                }
            }
        }
    }
}

extension DeliveryRow {
    /// Why a claimed delivery must not be sent: its end was asked for, consent objects, or Apple has refunded the purchase
    /// and asks nothing.
    fileprivate static func obstacle(
        to delivery: Delivery, _ presence: FactPresence, _ tombstones: Tombstones, in database: SQLDatabase
    ) throws -> DeliveryFailure? {
        if let asked = try fetch(app: delivery.app, id: delivery.id, from: database)?.cancellation { return asked }
        if let objection = try ConsentQuery.judgement(
            of: ConsentSubject(delivery), presence, tombstones, in: database
        ).objection {
            return DeliveryFailure(objection.error)
        }
        guard delivery.caseID == nil, let purchase = delivery.purchase else { return nil }
        let situation = try PurchaseRow.situation(of: purchase, app: delivery.app, presence, from: database)
        let place = FactRules.Places(situation.cases).place(of: delivery)
        return place.end ?? (place.isRefunded ? .decided : nil)
    }

    /// How much earlier a delivery may have been created than one with a lower id, as a clock may be set.
    private static let clockSlack: TimeInterval = 3600

    /// A page of an app's deliveries, newest first.
    fileprivate static func page(_ database: SQLDatabase, app: String, _ query: DeliveryQuery) throws -> [Delivery] {
        if let user = query.user { return try page(database, app: app, query, of: user) }
        let (sql, arguments) = list(app: app, query)
        let rows = try SQLRow.fetchCursor(
            database.cachedStatement(sql: "\(sql) ORDER BY id DESC"), arguments: arguments)
        var page: [Delivery] = []
        while page.count < query.limit, let row = try rows.next() {
            if let since = query.since {
                let createdAt = try row.date("createdAt")
                // Rows come by age: nothing that follows is young enough.
                if createdAt < since.addingTimeInterval(-clockSlack) { break }
                if createdAt < since { continue }
            }
            page.append(try DeliveryRow(row, from: database).withOwner(database))
        }
        return page
    }

    /// The query for a list, without its order: by case or transaction, of which there are few; else state by state, each in
    /// the order of its index, which SQLite merges.
    private static func list(app: String, _ query: DeliveryQuery) -> (sql: String, arguments: SQLArguments) {
        let states = query.states.sorted { $0.rawValue < $1.rawValue }
        var shared = Conditions()
        shared.add("app = ?", app)
        if let environment = query.environment { shared.add("+environment = ?", environment.rawValue) }
        if let before = query.before { shared.add("id < ?", before) }
        var branches: [Conditions] = []
        if query.caseID != nil || query.transactionID != nil {
            if let caseID = query.caseID { shared.add("caseId = ?", caseID) }
            if let transaction = query.transactionID {
                shared.add(query.caseID == nil ? "transactionId = ?" : "+transactionId = ?", transaction)
            }
            if !states.isEmpty {
                shared.add("+state IN (\(SQLList.placeholders(states.count)))", states.map(\.rawValue))
            }
            branches = [shared]
        } else {
            branches = (states.isEmpty ? Delivery.State.allCases : states).map { state in
                var branch = shared
                branch.add("state = ?", state.rawValue)
                branch.add(state.isFinal ? "endedAt IS NOT NULL" : "endedAt IS NULL", [])
                return branch
            }
        }
        return (
            branches.map { "SELECT \(columns) FROM delivery WHERE \($0.sql)" }.joined(separator: " UNION ALL "),
            branches.reduce(into: []) { $0 += $1.arguments }
        )
    }

    /// A page of a user's deliveries: those whose present user it is, of which there are few.
    private static func page(
        _ database: SQLDatabase, app: String, _ query: DeliveryQuery, of user: UserID
    ) throws -> [Delivery] {
        let all = try UserDeliveries.list(of: user, app: app, .all, in: database).map { try $0.withOwner(database) }
        let wanted = all.filter { $0.presentUser?.isSameUser(as: user) ?? false }
            .filter { query.states.isEmpty || query.states.contains($0.state) }
            .filter { query.caseID == nil || $0.caseID == query.caseID }
            .filter { query.transactionID == nil || $0.transactionID == query.transactionID }
            .filter { query.environment == nil || $0.environment == query.environment }
            .filter { $0.createdAt >= query.since ?? .distantPast }
            .filter { query.before == nil || $0.id < query.before ?? "" }
        return Array(wanted.sorted { $0.id > $1.id }.prefix(query.limit))
    }
}

/// An idempotency key as it stands in its table.
enum IdempotencyKeyRow {
    /// The delivery that a key stands for, if the key is known and not too old.
    static func delivery(
        for key: IdempotencyKey, at now: Date, from database: SQLDatabase
    ) throws -> (delivery: Delivery, requestDigest: [UInt8])? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT requestDigest, deliveryId FROM idempotencyKey
                WHERE caller = ? AND app = ? AND route = ? AND key = ? AND createdAt > ?
                """)
        let oldest = now.addingTimeInterval(-IdempotencyKey.lifetime)
        guard
            let row = try SQLRow.fetchOne(
                statement, arguments: [key.caller, key.app, bytes(key.route), bytes(key.key), oldest.milliseconds]),
            let delivery = try DeliveryRow.fetch(app: key.app, id: row.value("deliveryId"), from: database)
        else { return nil }
        return (delivery.delivery, try row.bytes("requestDigest"))
    }

    /// The keys that a delivery came under.
    static func list(ofDelivery id: String, from database: SQLDatabase) throws -> [IdempotencyKey] {
        try SQLRow.fetchAll(
            database.cachedStatement(sql: "SELECT caller, app, route, key FROM idempotencyKey WHERE deliveryId = ?"),
            arguments: [id]
        ).map { row in
            IdempotencyKey(
                caller: try row.value("caller"), app: try row.value("app"),
                route: String(decoding: try row.bytes("route"), as: UTF8.self),
                key: String(decoding: try row.bytes("key"), as: UTF8.self))
        }
    }

    /// Keeps a key, in the place of one that was too old.
    static func save(
        _ key: IdempotencyKey, requestDigest: [UInt8], deliveryID: String, at now: Date, in database: SQLDatabase
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO idempotencyKey (caller, app, route, key, requestDigest, deliveryId, createdAt)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (caller, app, route, key) DO UPDATE SET
                    requestDigest = excluded.requestDigest, deliveryId = excluded.deliveryId,
                    createdAt = excluded.createdAt
                """)
        try statement.execute(
            arguments: [
                key.caller, key.app, bytes(key.route), bytes(key.key), Data(requestDigest), deliveryID,
                now.milliseconds,
            ])
    }

    private static func bytes(_ text: String) -> Data { Data(text.utf8) }
}
