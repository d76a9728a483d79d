import Domain
import Foundation

/// What erased users' withdrawals left: reads and writes the table of keyed hashes.
struct Tombstones: Sendable {
    /// What makes the hashes.
    enum Key: Sendable {
        /// The store was opened without: then none can be left, and nothing is said while there are some.
        case absent
        case open(TombstoneHasher)
        /// It does not open, and there are hashes that it has made: nothing may be sent, since nobody can tell who has
        /// withdrawn.
        case closed(SendingHold)
    }

    let key: Key

    /// Why nothing may be sent, if so.
    var hold: SendingHold? {
        guard case .closed(let hold) = key else { return nil }
        return hold
    }

    /// Looks whether withdrawals of erased users can be told, for whoever is about to send or to accept for sending.
    ///
    /// - Throws: `consentUnknown`
    func check() throws(ServiceError) {
        if case .closed(let hold) = key { throw Self.unknown(hold) }
    }

    private static func unknown(_ hold: SendingHold) -> ServiceError {
        ServiceError(
            .consentUnknown,
            "Who has withdrawn consent cannot be told now: this installation lacks the key to what it keeps of erased users. The operator knows.",
            cause: hold.reason)
    }

    /// Whether a user was erased who had withdrawn.
    func isErased(_ user: UserID, app: String, in database: SQLDatabase) throws -> Bool {
        guard try hasAny(database) else { return false }
        return try [user, UserID(user.folded)].contains { spelling in
            try isLeft(hash { $0.hash(app: app, user: spelling) }, in: database)
        }
    }

    /// Whether one of these identifiers was an erased user's who had withdrawn.
    func isErased(_ targets: [LinkTarget], app: String, in database: SQLDatabase) throws -> Bool {
        guard try hasAny(database) else { return false }
        return try targets.contains { target in
            try isLeft(hash { $0.hash(app: app, target: target) }, in: database)
        }
    }

    /// Leaves the hashes of a user and of the identifiers that were its own.
    func leave(_ user: UserID, _ targets: Set<LinkTarget>, app: String, in database: SQLDatabase) throws {
        let userHash = try hash { $0.hash(app: app, user: user) }
        let hashes = try targets.map { target in try hash { $0.hash(app: app, target: target) } }
        let statement = try database.cachedStatement(
            sql: "INSERT INTO tombstone (hash, userHash) VALUES (?, ?) ON CONFLICT DO NOTHING")
        for hash in [userHash] + hashes { try statement.execute(arguments: [hash, userHash]) }
    }

    /// Removes all that an erasure of this user left.
    func remove(_ user: UserID, app: String, in database: SQLDatabase) throws {
        guard try hasAny(database) else { return }
        for spelling in [user, try UserID(user.folded)] {
            try database.execute(
                sql: "DELETE FROM tombstone WHERE userHash = ?",
                arguments: [try hash { $0.hash(app: app, user: spelling) }])
        }
    }

    /// The hash of an Apple Account that a guardian rescinded consent for.
    func hash(of account: String, app: String, _ environment: AppStoreEnvironment) throws -> Data {
        try hash { $0.hash(app: app, environment: environment, appTransactionID: account) }
    }

    /// Whether there is any at all, which is seldom.
    func hasAny(_ database: SQLDatabase) throws -> Bool {
        try Int.fetchOne(database.cachedStatement(sql: "SELECT 1 FROM tombstone WHERE hash > x'' LIMIT 1")) != nil
    }

    private func isLeft(_ hash: Data, in database: SQLDatabase) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM tombstone WHERE hash = ? LIMIT 1"), arguments: [hash]) != nil
    }

    /// An empty hash is one that could not be made: it must not look like one that is not there.
    private func hash(_ make: (TombstoneHasher) -> [UInt8]) throws -> Data {
        var hash: [UInt8] = []
        switch key {
        case .open(let hasher): hash = make(hasher)
        case .absent: break
        case .closed(let hold): throw Self.unknown(hold)
        }
        guard !hash.isEmpty else {
            throw ServiceError(.storeUnavailable, "The hashes of erased users cannot be made now.")
        }
        return Data(hash)
    }
}
