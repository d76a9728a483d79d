package import Domain
import Foundation

/// The secrets of this installation, as far as they open while the store is in use.
package struct OpenedSecrets: Sendable {
    let tombstones: Tombstones
    /// Authenticates the tokens of pages; nil where the store was opened without secrets.
    package let pageTokenCode: (@Sendable ([UInt8]) -> [UInt8])?
    /// The result for each.
    package let states: [InstallationSecret: InstallationSecretState]

    /// Of a store that is opened without any.
    package static let none = OpenedSecrets(
        tombstones: Tombstones(key: .absent), pageTokenCode: nil, states: [:])

    /// Opens the secrets that a store keeps, seals those that an earlier release has kept in clear, and makes those that are
    /// missing.
    ///
    /// Nothing that is sealed is replaced: a secret that does not open is closed, or set aside where nothing depends on it. What is sealed
    /// now, and was not, is still in an engine's log.
    ///
    /// - Throws: `keyUnavailable` where a master key is missing whose loss was not accepted, or a secret cannot be made or sealed; `SQLError`.
    package static func open(with secrets: any InstallationSecrets, in database: SQLDatabase) throws -> OpenedSecrets {
        try MasterKeyLosses.accept(with: secrets, in: database)
        let opened = try InstallationSecret.allCases.reduce(into: [:]) { opened, secret in
            opened[secret] = try InstallationSecretRow.open(secret, with: secrets, in: database)
        }
        let key: Tombstones.Key =
            switch (opened[.tombstones]?.code, opened[.tombstones]?.state) {
            case (let code?, _): .open(TombstoneHasher(authenticationCode: code))
            case (nil, .closed(let reason)): .closed(hold(because: reason, since: secrets.now()))
            case (nil, _): .absent
            }
        return OpenedSecrets(
            tombstones: Tombstones(key: key), pageTokenCode: opened[.pageToken]?.code,
            states: opened.mapValues(\.state))
    }

    private static func hold(because reason: String, since now: Date) -> SendingHold {
        SendingHold(
            since: now,
            reason:
                "The withdrawals of erased users cannot be read: \(reason). Put that master key back and restart the daemon.",
            isReleasable: false)
    }
}

/// A secret of this installation, sealed or as earlier releases kept it.
private enum InstallationSecretRow {
    struct Opened {
        /// Nil for one that is closed.
        var code: (@Sendable ([UInt8]) -> [UInt8])?
        let state: InstallationSecretState
    }

    static func open(
        _ secret: InstallationSecret, with secrets: any InstallationSecrets, in database: SQLDatabase
    ) throws -> Opened {
        if let clear = try InstallationKeyRow.take(secret.rawValue, from: database) {
            // Where there are two, the store's contents were made with this one, which is the older.
            if let later = try SealedSecretRow.fetch(.installation, secret.rawValue, from: database) {
                try SealedSecretRow.setAside(later, in: database)
            }
            return Opened(code: try seal(try secrets.seal(clear, as: secret), secrets, database), state: .sealed)
        }
        guard let stored = try SealedSecretRow.fetch(.installation, secret.rawValue, from: database) else {
            guard try !isDependedOn(secret, database) else {
                return Opened(state: .closed(because: "\(secret.purpose) is missing"))
            }
            return Opened(code: try seal(try secrets.make(secret), secrets, database), state: .open)
        }
        do throws(ServiceError) {
            return Opened(code: try secrets.authenticator(stored), state: .open)
        } catch {
            guard try !isDependedOn(secret, database) else { return Opened(state: .closed(because: error.message)) }
            try SealedSecretRow.setAside(stored, in: database)
            return Opened(
                code: try seal(try secrets.make(secret), secrets, database), state: .replaced(because: error.message))
        }
    }

    /// Inserts a sealed secret, and opens what the store has under its name then.
    private static func seal(
        _ record: SealedSecretRecord, _ secrets: any InstallationSecrets, _ database: SQLDatabase
    ) throws -> @Sendable ([UInt8]) -> [UInt8] {
        try secrets.authenticator(try SealedSecretRow.insertIfAbsent(record, into: database))
    }

    /// Whether something that is kept is of no use without a secret.
    private static func isDependedOn(_ secret: InstallationSecret, _ database: SQLDatabase) throws -> Bool {
        switch secret {
        case .tombstones:
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM tombstone) OR EXISTS (SELECT 1 FROM rescission)") ?? true
        // The tokens are with callers, who begin their list again.
        case .pageToken: false
        }
    }
}

/// The master keys that the store needs and the installation does not have.
private enum MasterKeyLosses {
    /// Records the losses that the operator accepts at this start, and forgets those of master keys that are back.
    ///
    /// - Throws: `keyUnavailable` where another master key is missing.
    static func accept(with secrets: any InstallationSecrets, in database: SQLDatabase) throws {
        let inventory = try SealedInventory.read(from: database)
        let missing = inventory.missing(holding: secrets.holds)
        if let other = missing.first(where: { !secrets.acceptedLosses.contains($0) }) {
            throw ServiceError(
                .keyUnavailable,
                "The store contains secrets that are sealed under master key \(other), which is missing.")
        }
        for masterKeyID in secrets.acceptedLosses {
            try MasterKeyLossRow.insert(masterKeyID, at: secrets.now(), into: database)
        }
        for masterKeyID in inventory.acceptedLosses where secrets.holds(masterKeyID: masterKeyID) {
            try MasterKeyLossRow.delete(masterKeyID, from: database)
        }
    }
}
