package import Domain
import Foundation

/// The secrets of this installation, as far as they open while the store is in use.
package struct OpenedSecrets: Sendable {
    let tombstones: Tombstones
    /// Authenticates the tokens of pages; nil where the store was opened without secrets.
    package let pageTokenCode: (@Sendable ([UInt8]) -> [UInt8])?
    /// What became of each.
    package let states: [InstallationSecret: InstallationSecretState]

    /// Of a store that is opened without any.
    package static let none = OpenedSecrets(
        tombstones: Tombstones(key: .absent), pageTokenCode: nil, states: [:])

    /// Opens the secrets that a store keeps, seals those that an earlier release has kept in clear, and makes those that are
    /// missing.
    ///
    /// One that does not open is replaced, unless what is kept depends on it. What is sealed now, and was not, still stands in an
    /// engine's log.
    ///
    /// - Throws: `keyUnavailable` when one cannot be made or sealed; `SQLError`.
    package static func open(with secrets: any InstallationSecrets, in database: SQLDatabase) throws -> OpenedSecrets {
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
                "It cannot be told which erased users had withdrawn consent: \(reason). Give the daemon that master key again, and restart it.",
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
            // It is the older one of two where there are two, and what is kept was made with it.
            return Opened(code: try keep(try secrets.seal(clear, as: secret), secrets, database), state: .sealed)
        }
        let reason: String
        if let kept = try SealedSecretRow.fetch(.installation, secret.rawValue, from: database) {
            do throws(ServiceError) {
                return Opened(code: try secrets.authenticator(kept), state: .open)
            } catch {
                reason = error.message
            }
        } else {
            reason = "\(secret.purpose) is missing"
        }
        if try isDependedOn(secret, database) { return Opened(state: .closed(because: reason)) }
        let isFirst = try SealedSecretRow.fetch(.installation, secret.rawValue, from: database) == nil
        return Opened(
            code: try keep(try secrets.make(secret), secrets, database),
            state: isFirst ? .open : .replaced(because: reason))
    }

    /// Keeps a sealed secret in the place of what there is, once it has been seen to open.
    private static func keep(
        _ record: SealedSecretRecord, _ secrets: any InstallationSecrets, _ database: SQLDatabase
    ) throws -> @Sendable ([UInt8]) -> [UInt8] {
        let code = try secrets.authenticator(record)
        try SealedSecretRow.delete(.installation, record.name, from: database)
        try SealedSecretRow.insert(record, into: database)
        return code
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
