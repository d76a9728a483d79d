package import Domain
import Foundation

/// What a store contains sealed, by master key.
///
/// A start reads it before it changes anything.
package struct SealedInventory: Sendable, Equatable {
    /// The names of the sealed secrets, by the id of the master key that opens them.
    package var names: [String: [String]] = [:]
    /// The ids of the master keys whose loss an operator has accepted.
    package var acceptedLosses: Set<String> = []
    /// The ids of the master keys that the installation's own secrets are sealed under: one, unless a change of it was interrupted.
    package var ownMasterKeyIDs: [String] = []
    /// The ids of the other instances that run on the store; always empty where the store is not shared.
    package var instances: [String] = []

    package init() {}

    /// Reads the inventory of a store whose tables exist.
    ///
    /// - Throws: `SQLError`
    package static func read(from database: SQLDatabase) throws -> SealedInventory {
        var inventory = SealedInventory()
        for record in try SealedSecretRow.fetchAll(from: database) {
            inventory.names[record.masterKeyID, default: []].append(record.purpose)
            if record.kind == .installation, record.name == record.originalName {
                inventory.ownMasterKeyIDs.append(record.masterKeyID)
            }
        }
        inventory.acceptedLosses = try MasterKeyLossRow.fetchAll(from: database)
        return inventory
    }

    /// The ids of the master keys that are needed, not held, and not accepted as lost; in ascending order.
    package func missing(holding isHeld: (String) -> Bool) -> [String] {
        names.keys.filter { !isHeld($0) && !acceptedLosses.contains($0) }.sorted()
    }
}

extension SealedSecretRecord {
    /// What the secret is for, such as `key ABC123DEFG`.
    package var purpose: String {
        switch kind {
        case .signingKey: "key \(name)"
        case .installation: "secret \(originalName)"
        case .callback: "secret of callback \(name)"
        }
    }
}

/// The master keys whose loss an operator has accepted, as rows of `installationKey`.
enum MasterKeyLossRow {
    /// What precedes the id of the master key in the column `name`.
    private static let prefix = "lostMasterKey "

    static func fetchAll(from database: SQLDatabase) throws -> Set<String> {
        let rows = try SQLRow.fetchAll(
            database, sql: "SELECT name FROM installationKey WHERE substr(name, 1, ?) = ?",
            arguments: [prefix.utf8.count, prefix])
        return Set(try rows.map { String((try $0.value("name") as String).dropFirst(prefix.utf8.count)) })
    }

    /// `value`: the time of the acceptance, for an operator who reads the table.
    static func insert(_ masterKeyID: String, at now: Date, into database: SQLDatabase) throws {
        _ = try InstallationKeyRow.fetch(
            prefix + masterKeyID, orKeep: Array(String(now.milliseconds).utf8), in: database)
    }

    static func delete(_ masterKeyID: String, from database: SQLDatabase) throws {
        try database.execute(sql: "DELETE FROM installationKey WHERE name = ?", arguments: [prefix + masterKeyID])
    }
}
