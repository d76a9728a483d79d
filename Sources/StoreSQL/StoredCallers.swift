package import Domain
package import Foundation

// The callers that operators add, with what they may do and what they prove themselves by.

extension SQLStore {
    package func callerRecords() async throws(ServiceError) -> CallerRecords {
        try await read("read the callers") { database in
            let keys = try SQLRow.fetchAll(database, sql: "SELECT * FROM callerKey ORDER BY id")
            return CallerRecords(
                generation: try CallerRow.generation(database), callers: try CallerRow.fetchAll(database),
                keys: try keys.map { try CallerKeyRow($0).key })
        }
    }

    package func callerGeneration() async throws(ServiceError) -> Int64 {
        try await read("ask whether callers have changed") { try CallerRow.generation($0) }
    }

    package func updateCaller(
        _ name: String, _ change: @escaping @Sendable (StoredCaller?) throws(ServiceError) -> StoredCaller
    ) async throws(ServiceError) -> CallerChange {
        try await write("change a caller") { database in
            let old = try CallerRow.fetch(name, from: database)
            let new = try change(old)
            try CallerRow.replace(old, with: new, in: database)
            return CallerChange(
                generation: try CallerRow.nextGeneration(database), name: name, caller: new)
        }
    }

    package func removeCaller(
        _ name: String, revokingKeysAt date: Date?
    ) async throws(ServiceError) -> CallerChange? {
        try await write("remove a caller") { database in
            try database.execute(sql: "DELETE FROM caller WHERE name = ?", arguments: [name])
            guard database.changesCount > 0 else { return nil }
            if let date {
                try database.execute(
                    sql: "UPDATE callerKey SET revokedAt = ? WHERE caller = ? AND revokedAt IS NULL",
                    arguments: [date.milliseconds, name])
                try database.execute(sql: "DELETE FROM callerUse WHERE caller = ?", arguments: [name])
            }
            return CallerChange(generation: try CallerRow.nextGeneration(database), name: name, caller: nil)
        }
    }

    package func noteCallerUses(_ uses: [CallerUse]) async throws(ServiceError) {
        try await write("keep when callers were here") { database in
            for use in uses {
                try database.execute(
                    sql: """
                        INSERT INTO callerUse (caller, credential, lastUsedAt) VALUES (?, ?, ?)
                        ON CONFLICT (caller, credential) DO UPDATE SET
                            lastUsedAt = max(callerUse.lastUsedAt, excluded.lastUsedAt)
                        """,
                    arguments: [use.caller, use.credential.text, use.lastUsedAt.milliseconds])
            }
        }
    }

    package func callerUses() async throws(ServiceError) -> [CallerUse] {
        try await read("read when callers were here") { database in
            try SQLRow.fetchAll(database, sql: "SELECT * FROM callerUse ORDER BY caller, credential").compactMap {
                row in
                // What a later version calls a credential is no use of ours.
                guard let credential = CallerCredential(text: try row.value("credential")) else { return nil }
                return CallerUse(
                    caller: try row.value("caller"), credential: credential, lastUsedAt: try row.date("lastUsedAt"))
            }
        }
    }
}

/// A caller as it stands in its tables.
enum CallerRow {
    /// The number of the latest change.
    static func generation(_ database: SQLDatabase) throws -> Int64 {
        guard let generation = try Int64.fetchOne(database, sql: "SELECT generation FROM callerGeneration WHERE id = 1")
        else {
            throw SQLError.damaged("the count of changes of callers is missing")
        }
        return generation
    }

    /// Counts one more change.
    @discardableResult
    static func nextGeneration(_ database: SQLDatabase) throws -> Int64 {
        try database.execute(sql: "UPDATE callerGeneration SET generation = generation + 1 WHERE id = 1")
        return try generation(database)
    }

    static func fetch(_ name: String, from database: SQLDatabase) throws -> StoredCaller? {
        try fetch(database, where: "WHERE name = ?", "WHERE caller = ?", [name]).first
    }

    /// Every caller, by name in ascending order.
    static func fetchAll(_ database: SQLDatabase) throws -> [StoredCaller] { try fetch(database, where: "", "", []) }

    private static func fetch(
        _ database: SQLDatabase, where ofCaller: String, _ ofParts: String, _ arguments: SQLArguments
    ) throws -> [StoredCaller] {
        func rows(_ table: String, _ condition: String, _ order: String) throws -> [SQLRow] {
            try SQLRow.fetchAll(
                database, sql: "SELECT * FROM \(table) \(condition) ORDER BY \(order)", arguments: arguments)
        }
        var grants: [String: [String: Set<Scope>]] = [:]
        for row in try rows("callerGrant", ofParts, "caller, app, scope") {
            grants[try row.value("caller"), default: [:]][try row.value("app"), default: []]
                .insert(try row.known("scope"))
        }
        var tokens: [String: [AccessToken]] = [:]
        for row in try rows("callerToken", ofParts, "caller, position") {
            tokens[try row.value("caller"), default: []].append(
                AccessToken(
                    id: try row.value("tokenId"), digest: try row.bytes("digest"),
                    createdAt: try row.date("createdAt"), expiresAt: try row.dateIfPresent("expiresAt"),
                    revokedAt: try row.dateIfPresent("revokedAt")))
        }
        var bindings: [String: Set<CallerBinding>] = [:]
        for row in try rows("callerBinding", ofParts, "caller, kind, value") {
            guard let binding = CallerBinding(try row.known("kind"), try row.value("value")) else {
                throw SQLError.unknown("value")
            }
            bindings[try row.value("caller"), default: []].insert(binding)
        }
        return try rows("caller", ofCaller, "name").map { row in
            let name: String = try row.value("name")
            return StoredCaller(
                name: name, createdAt: try row.date("createdAt"), grants: grants[name] ?? [:],
                tokens: tokens[name] ?? [], bindings: bindings[name] ?? [])
        }
    }

    /// Writes a caller in the place of what was there.
    ///
    /// - Throws: `callerConflict` when a binding is another caller's; `SQLError`.
    static func replace(_ old: StoredCaller?, with new: StoredCaller, in database: SQLDatabase) throws {
        if old == nil {
            try database.execute(
                sql: "INSERT INTO caller (name, createdAt) VALUES (?, ?)",
                arguments: [new.name, new.createdAt.milliseconds])
        }
        if old?.grants != new.grants {
            try database.execute(sql: "DELETE FROM callerGrant WHERE caller = ?", arguments: [new.name])
            for (app, scopes) in new.grants {
                for scope in scopes {
                    try database.execute(
                        sql: "INSERT INTO callerGrant (caller, app, scope) VALUES (?, ?, ?)",
                        arguments: [new.name, app, scope.rawValue])
                }
            }
        }
        if old?.tokens ?? [] != new.tokens { try replaceTokens(of: new, in: database) }
        for binding in (old?.bindings ?? []).subtracting(new.bindings) {
            try database.execute(
                sql: "DELETE FROM callerBinding WHERE kind = ? AND value = ?",
                arguments: [binding.kind.rawValue, binding.value])
        }
        for binding in new.bindings.subtracting(old?.bindings ?? []) {
            let owner = try String.fetchOne(
                database, sql: "SELECT caller FROM callerBinding WHERE kind = ? AND value = ?",
                arguments: [binding.kind.rawValue, binding.value])
            if let owner { throw CallerAdministration.bound(binding, to: owner) }
            try database.execute(
                sql: "INSERT INTO callerBinding (kind, value, caller) VALUES (?, ?, ?)",
                arguments: [binding.kind.rawValue, binding.value, new.name])
        }
    }

    private static func replaceTokens(of caller: StoredCaller, in database: SQLDatabase) throws {
        try database.execute(sql: "DELETE FROM callerToken WHERE caller = ?", arguments: [caller.name])
        for (position, token) in caller.tokens.enumerated() {
            try database.execute(
                sql: """
                    INSERT INTO callerToken (tokenId, caller, digest, createdAt, expiresAt, revokedAt, position)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    token.id, caller.name, Data(token.digest), token.createdAt.milliseconds,
                    token.expiresAt?.milliseconds, token.revokedAt?.milliseconds, position,
                ])
        }
    }
}
