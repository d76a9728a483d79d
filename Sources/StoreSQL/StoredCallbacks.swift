package import Domain
package import Foundation

// Callbacks as their owners know them; what the sender asks is in `CallbackQueue`.

extension SQLStore {
    package func callbacks(app: String) async throws(ServiceError) -> [Callback] {
        try await read("list callbacks") { try CallbackRow.list(app: app, from: $0) }
    }

    package func callback(app: String, id: String) async throws(ServiceError) -> Callback? {
        try await read("read a callback") { try CallbackRow.fetch(app: app, id: id, from: $0) }
    }

    package func addCallback(
        _ callback: Callback, secret: SealedSecretRecord?
    ) async throws(ServiceError) -> Callback? {
        try await write("keep a callback") { database in
            guard try CallbackRow.hasRoom(for: callback.app, in: database) else { return nil }
            var callback = callback
            callback.position = try EventRow.bounds(database).latest
            if let secret { try SealedSecretRow.insert(secret, into: database) }
            try CallbackRow.insert(callback, into: database)
            return callback
        }
    }

    package func changeCallback(
        app: String, id: String, _ change: @escaping @Sendable (inout Callback) -> Void
    ) async throws(ServiceError) -> Callback? {
        try await write("change a callback") { database in
            try CallbackRow.update(app: app, id: id, in: database) { callback in
                let wasActive = callback.state == .active
                change(&callback)
                // What waited gets all its time anew.
                if !wasActive, callback.state == .active { try CallbackEntryRow.renew(id, in: database) }
            }
        }
    }

    package func rotateCallbackSecret(
        app: String, id: String, secret: SealedSecretRecord, number: Int64, previousUntil: Date, at now: Date
    ) async throws(ServiceError) -> Callback? {
        try await write("change a callback's secret") { database in
            guard try CallbackRow.fetch(app: app, id: id, from: database)?.secretNumber == number - 1 else {
                return nil
            }
            try SealedSecretRow.insert(secret, into: database)
            try SealedSecretRow.delete(.callback, Callback.secretName(id, number - 2), from: database)
            return try CallbackRow.update(app: app, id: id, in: database) { callback in
                callback.secretNumber = number
                callback.previousSecretUntil = previousUntil
                callback.updatedAt = now
            }
        }
    }

    package func replayCallback(
        app: String, id: String, after position: Int64, at now: Date
    ) async throws(ServiceError) -> Callback? {
        try await write("let a callback begin again") { database in
            let callback = try CallbackRow.update(app: app, id: id, in: database) { callback in
                callback.position = position
                callback.hasMissedEvents = false
                callback.state = .active
                callback.pauseReason = nil
                callback.updatedAt = now
            }
            if callback != nil { try CallbackEntryRow.removeAll(of: id, from: database) }
            return callback
        }
    }

    package func removeCallback(app: String, id: String) async throws(ServiceError) -> Bool {
        let isRemoved = try await write("remove a callback") { database in
            guard let callback = try CallbackRow.fetch(app: app, id: id, from: database) else { return false }
            for number in [callback.secretNumber, callback.secretNumber - 1] {
                try SealedSecretRow.delete(.callback, Callback.secretName(id, number), from: database)
            }
            try database.execute(sql: "DELETE FROM callback WHERE id = ?", arguments: [id])
            return true
        }
        return isRemoved
    }

    package func callbackAttempts(id: String, limit: Int) async throws(ServiceError) -> [CallbackAttempt] {
        try await read("list the attempts of a callback") { database in
            try CallbackAttemptRow.latest(of: id, limit: limit, from: database)
        }
    }

    package func callbackBacklog(id: String) async throws(ServiceError) -> (waiting: Int, failingSince: Date?) {
        try await read("count what a callback waits to send again") { try CallbackEntryRow.count(of: id, in: $0) }
    }

    package func callbackStates() async throws(ServiceError) -> [CallbackStatus] {
        try await read("count callbacks") { database in
            try CallbackRow.list(app: nil, from: database).map { callback in
                CallbackStatus(
                    id: callback.id, app: callback.app, state: callback.state, pauseReason: callback.pauseReason,
                    waiting: try CallbackEntryRow.count(of: callback.id, in: database).waiting)
            }
        }
    }
}

/// A callback as it stands in its table.
enum CallbackRow {
    private static let separator = "\n"

    /// An app's callbacks, or all, the oldest first: ids are in the order of their times.
    static func list(app: String?, from database: SQLDatabase) throws -> [Callback] {
        let rows =
            if let app {
                try SQLRow.fetchAll(
                    database.cachedStatement(sql: "SELECT * FROM callback WHERE app = ? ORDER BY id"), arguments: [app])
            } else {
                try SQLRow.fetchAll(database.cachedStatement(sql: "SELECT * FROM callback ORDER BY id"))
            }
        return try rows.map(callback)
    }

    static func fetch(app: String, id: String, from database: SQLDatabase) throws -> Callback? {
        try SQLRow.fetchOne(
            database.cachedStatement(sql: "SELECT * FROM callback WHERE id = ? AND app = ?"), arguments: [id, app]
        ).map(callback)
    }

    static func fetch(id: String, from database: SQLDatabase) throws -> Callback? {
        try SQLRow.fetchOne(database.cachedStatement(sql: "SELECT * FROM callback WHERE id = ?"), arguments: [id])
            .map(callback)
    }

    static func hasRoom(for app: String, in database: SQLDatabase) throws -> Bool {
        let all = try Int.fetchOne(database, sql: "SELECT count(*) FROM callback") ?? 0
        let own = try Int.fetchOne(database, sql: "SELECT count(*) FROM callback WHERE app = ?", arguments: [app]) ?? 0
        return all < Callback.maximumInAll && own < Callback.maximumPerApp
    }

    static func insert(_ callback: Callback, into database: SQLDatabase) throws {
        try database.execute(
            sql: """
                INSERT INTO callback
                    (id, app, format, url, types, products, environments, description, state, pauseReason, createdAt,
                     createdBy, updatedAt, position, hasMissedEvents, secretNumber, previousSecretUntil, revision)
                VALUES (:id, :app, :format, :url, :types, :products, :environments, :description, :state, :pauseReason,
                    :createdAt, :createdBy, :updatedAt, :position, :hasMissedEvents, :secretNumber,
                    :previousSecretUntil, :revision)
                """, arguments: arguments(callback))
    }

    /// Changes a callback, and tells its sender by another revision.
    ///
    /// - Returns: nil when there is none.
    static func update(
        app: String, id: String, in database: SQLDatabase, _ change: (inout Callback) throws -> Void
    ) throws -> Callback? {
        guard var callback = try fetch(app: app, id: id, from: database) else { return nil }
        try change(&callback)
        callback.revision += 1
        try save(callback, in: database)
        return callback
    }

    static func save(_ callback: Callback, in database: SQLDatabase) throws {
        try database.execute(
            sql: """
                UPDATE callback SET app = :app, format = :format, url = :url, types = :types, products = :products,
                    environments = :environments, description = :description, state = :state,
                    pauseReason = :pauseReason, createdAt = :createdAt, createdBy = :createdBy,
                    updatedAt = :updatedAt, position = :position, hasMissedEvents = :hasMissedEvents,
                    secretNumber = :secretNumber, previousSecretUntil = :previousSecretUntil, revision = :revision
                WHERE id = :id
                """, arguments: arguments(callback))
    }

    private static func arguments(_ callback: Callback) -> SQLArguments {
        [
            "id": callback.id, "app": callback.app, "format": callback.format.rawValue, "url": callback.url.text,
            "types": joined(callback.filter.types), "products": joined(callback.filter.products),
            "environments": joined(callback.filter.environments.map(\.rawValue)),
            "description": callback.description, "state": callback.state.rawValue,
            "pauseReason": callback.pauseReason?.rawValue, "createdAt": callback.createdAt.milliseconds,
            "createdBy": callback.createdBy, "updatedAt": callback.updatedAt.milliseconds,
            "position": callback.position, "hasMissedEvents": callback.hasMissedEvents,
            "secretNumber": callback.secretNumber,
            "previousSecretUntil": callback.previousSecretUntil?.milliseconds, "revision": callback.revision,
        ]
    }

    private static func joined(_ texts: some Collection<String>) -> String {
        texts.sorted().joined(separator: separator)
    }

    private static func set(_ row: SQLRow, _ column: String) throws -> Set<String> {
        Set(try row.value(column, as: String.self).split(separator: separator).map(String.init))
    }

    static func callback(_ row: SQLRow) throws -> Callback {
        guard let url = CallbackURL(try row.value("url")) else { throw SQLError.unknown("url") }
        let environments = try set(row, "environments").map { text in
            guard let environment = AppStoreEnvironment(rawValue: text) else {
                throw SQLError.unknown("environments")
            }
            return environment
        }
        var callback = Callback(
            id: try row.value("id"), app: try row.value("app"), format: try row.known("format"), url: url,
            filter: CallbackFilter(
                types: try set(row, "types"), products: try set(row, "products"), environments: Set(environments)),
            description: try row.value("description"), createdAt: try row.date("createdAt"),
            createdBy: try row.value("createdBy"))
        callback.state = try row.known("state")
        callback.pauseReason = try row.knownIfPresent("pauseReason")
        callback.updatedAt = try row.date("updatedAt")
        callback.position = try row.value("position")
        callback.hasMissedEvents = try row.value("hasMissedEvents")
        callback.secretNumber = try row.value("secretNumber")
        callback.previousSecretUntil = try row.dateIfPresent("previousSecretUntil")
        callback.revision = try row.value("revision")
        return callback
    }
}

/// An attempt as it stands in its table.
enum CallbackAttemptRow {
    static func latest(of id: String, limit: Int, from database: SQLDatabase) throws -> [CallbackAttempt] {
        try SQLRow.fetchAll(
            database.cachedStatement(
                sql: "SELECT * FROM callbackAttempt WHERE callbackId = ? ORDER BY number DESC LIMIT ?"),
            arguments: [id, limit]
        ).map { row in
            CallbackAttempt(
                number: try row.value("number"), eventID: try row.value("eventId"), type: try row.value("type"),
                startedAt: try row.date("startedAt"),
                duration: .microseconds(try row.value("microseconds", as: Int64.self)),
                status: try row.value("status"), failure: try row.value("failure"))
        }
    }

    /// Keeps attempts, and forgets those before the latest.
    static func append(_ attempts: [CallbackAttempt], of id: String, to database: SQLDatabase) throws {
        guard !attempts.isEmpty else { return }
        var number =
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: "SELECT number FROM callbackAttempt WHERE callbackId = ? ORDER BY number DESC LIMIT 1"),
                arguments: [id]) ?? 0
        for attempt in attempts {
            number += 1
            let (seconds, attoseconds) = attempt.duration.components
            try database.cachedStatement(
                sql: """
                    INSERT INTO callbackAttempt
                        (callbackId, number, eventId, type, startedAt, microseconds, status, failure)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(
                arguments: [
                    id, number, attempt.eventID, attempt.type, attempt.startedAt.milliseconds,
                    seconds * 1_000_000 + attoseconds / 1_000_000_000_000, attempt.status, attempt.failure,
                ])
        }
        try database.cachedStatement(sql: "DELETE FROM callbackAttempt WHERE callbackId = ? AND number <= ?")
            .execute(arguments: [id, number - Int64(CallbackAttempt.maximumKept)])
    }
}
