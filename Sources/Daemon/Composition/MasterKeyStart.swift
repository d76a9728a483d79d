import AuditLog
import Domain
import Foundation
import KeyCustody
import Logging
import StorePostgres
import StoreSQL
import StoreSQLite

/// Opens the master keys of an installation, and rejects them unless they open every sealed secret.
///
/// A daemon with another master key would seal new secrets that no other instance can open, and could not read the withdrawals of erased
/// users.
struct MasterKeyStart {
    /// How long to wait until other instances on the store have ended, before a loss is accepted.
    private static let patience = Duration.seconds(30)

    let vault: SecretVault
    /// The names of the unreadable secrets, by the id of each master key whose loss is accepted at this start.
    let acceptedLosses: [String: [String]]

    /// Reads the inventory of sealed secrets, then the master keys.
    ///
    /// It changes nothing if a key is missing whose loss is not accepted.
    ///
    /// - Parameters:
    ///   - configuration: names the store, the audit directory and the master key.
    ///   - losses: the ids of master keys whose loss the operator accepts.
    ///   - logger: receives a warning for an acceptance without effect, and the id of a new master key.
    /// - Throws: `ConfigurationError` for a master key that is missing or wrong; `SecretFileError`; `storeUnavailable`.
    init(_ configuration: DaemonConfiguration, accepting losses: [String], _ logger: Logger) async throws {
        let source = configuration.masterKey
        var inventory = try await Self.inventory(configuration)
        if case .made(let path) = source, access(path, F_OK) != 0 {
            try Self.require(inventory.missing { _ in false }, in: inventory, accepting: losses, source, holding: nil)
        }
        vault = try Self.openVault(source, logger)
        let missing = inventory.missing(holding: vault.holds)
        try Self.require(missing, in: inventory, accepting: losses, source, holding: vault.masterKeyID)
        for loss in losses where !missing.contains(loss) {
            logger.warning(
                "Option --accept-new-master-key has no effect",
                metadata: ["master_key_id": "\(loss)", "action": "remove the option from the command"])
        }
        let deadline = ContinuousClock.now + Self.patience
        while !missing.isEmpty, !inventory.instances.isEmpty {
            guard ContinuousClock.now < deadline else {
                throw ServiceError(
                    .storeUnavailable,
                    "Other instances run on the store: \(inventory.instances.joined(separator: ", ")). "
                        + "Stop them before you accept the loss of a master key.")
            }
            try await Task.sleep(for: .seconds(1))
            inventory = try await Self.inventory(configuration)
        }
        acceptedLosses = inventory.names.filter { missing.contains($0.key) }
        // All instances seal under the master key of the store's own secrets until one of them changes it.
        if case .made = source { return }
        if let current = inventory.ownMasterKeyIDs.first(where: vault.holds) { vault.seal(under: current) }
    }

    /// The sealed secrets of the store and of the audit directory.
    ///
    /// - Throws: `storeUnavailable` or `ConfigurationError` where the store cannot be read.
    private static func inventory(_ configuration: DaemonConfiguration) async throws -> SealedInventory {
        var inventory =
            switch configuration.store {
            case .sqlite(let path): try SealedContents.ofFile(path)
            case .postgres(let postgres): try await PostgresStore.sealedInventory(postgres)
            }
        SealedContents.addFiles(of: configuration.audit, to: &inventory)
        return inventory
    }

    private static func require(
        _ missing: [String], in inventory: SealedInventory, accepting losses: [String], _ source: MasterKeySource,
        holding masterKeyID: String?
    ) throws(ConfigurationError) {
        guard !missing.allSatisfy(losses.contains) else { return }
        throw ConfigurationError(
            problems: [SealedContents.problem(missing, in: inventory, source, holding: masterKeyID)])
    }

    /// Opens the master keys, and logs the id of one that was made.
    ///
    /// - Throws: `SecretFileError` naming the file, what is wrong with it, and the fix.
    private static func openVault(
        _ source: MasterKeySource, _ logger: Logger
    ) throws(SecretFileError) -> SecretVault {
        let (vault, isNew): (SecretVault, Bool)
        do throws(SecretFileError) {
            (vault, isNew) = try SecretVault.open(source)
        } catch {
            let remedy =
                if case .made = source {
                    "the master key is stored next to the store, whose directory must exist and belong to Purser's user"
                } else {
                    "put the master key that the store is sealed under into the file that `masterKey` names"
                }
            throw SecretFileError(path: error.path, problem: "\(error.problem); \(remedy)", isOfDisk: error.isOfDisk)
        }
        if isNew {
            logger.notice(
                "Master key created",
                metadata: [
                    "path": "\(source.path)", "master_key_id": "\(vault.masterKeyID)",
                    "action": "copy the file to a place apart from the backups of the store, which do not contain it",
                ])
        }
        return vault
    }
}

/// What an installation has sealed, as far as it can be read without opening it.
enum SealedContents {
    /// The most names that a message lists.
    private static let maximumNames = 20

    /// What a store in a file contains sealed.
    ///
    /// - Throws: `ConfigurationError` for a store of a newer version, else `storeUnavailable`.
    static func ofFile(_ path: String) throws -> SealedInventory {
        // SQLite may create the file while it reads; the daemon's user must be able to write it.
        let hadIndex = access("\(path)-shm", F_OK) == 0
        defer { if !hadIndex { try? OfflineStoreCommand.giveToFolderOwner(path) } }
        do throws(ServiceError) {
            return try StoreCheck.sealedInventory(path)
        } catch {
            throw StoreOpening.failure(error, path)
        }
    }

    /// Adds the sealed keys of the audit chains.
    ///
    /// A file that cannot be read names no master key; the audit reports it.
    static func addFiles(of audit: AuditConfiguration, to inventory: inout SealedInventory) {
        let directory = AuditWriter.Settings(audit).directory
        for chain in (try? directory.chainsWithKeys()) ?? [] {
            let file = SealedAuditKeys.file(chain, in: directory)
            guard let masterKeyID = file.masterKeyID else { continue }
            inventory.names[masterKeyID, default: []].append("key of audit chain \(chain)")
        }
    }

    /// What a start with this configuration would report of its master key; nil where it would accept the key.
    ///
    /// It makes no master key and does not connect to PostgreSQL. Nil as well for a store or a master key that cannot be read, which other
    /// checks report.
    static func problem(of configuration: DaemonConfiguration) -> ConfigurationProblem? {
        let source = configuration.masterKey
        guard case .sqlite(let path) = configuration.store, var inventory = try? ofFile(path) else { return nil }
        addFiles(of: configuration.audit, to: &inventory)
        guard access(source.path, F_OK) == 0 else {
            // A credential exists only while systemd runs the unit.
            guard case .made = source else { return nil }
            let missing = inventory.missing { _ in false }
            return missing.isEmpty ? nil : problem(missing, in: inventory, source, holding: nil)
        }
        guard let vault = try? SecretVault.open(source).vault else { return nil }
        let missing = inventory.missing(holding: vault.holds)
        return missing.isEmpty ? nil : problem(missing, in: inventory, source, holding: vault.masterKeyID)
    }

    /// What to report about master keys that are missing, with the fix.
    ///
    /// `masterKeyID`: the present master key; nil where the file does not exist.
    static func problem(
        _ missing: [String], in inventory: SealedInventory, _ source: MasterKeySource, holding masterKeyID: String?
    ) -> ConfigurationProblem {
        let state = masterKeyID.map { "holds master key \($0)" } ?? "does not exist"
        let needs = missing.map { id in
            let names = (inventory.names[id] ?? []).sorted()
            let more = names.count > maximumNames ? " and \(names.count - maximumNames) more" : ""
            return "master key \(id) (\(names.prefix(maximumNames).joined(separator: ", "))\(more))"
        }
        let fix =
            masterKeyID == nil
            ? "Restore the file from your copy."
            : "Restore the file, or add that master key to it in a line of its own after the first."
        let options = missing.map { "--accept-new-master-key=\($0)" }.joined(separator: " ")
        return ConfigurationProblem(
            .file(source.path), key: "masterKey",
            "The file \(state), but secrets are sealed under \(needs.joined(separator: ", ")). \(fix) "
                + "If it is lost permanently, run `purser serve \(options)` once; "
                + "see \"A lost or wrong master key\" in docs/keys.md.")
    }
}
