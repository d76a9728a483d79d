import Domain
import Foundation
import KeyCustody
import StorePostgres
import StoreSQL
import StoreSQLite

/// `purser keys delete --unreadable`: deletes a sealed secret that no master key of the installation opens.
///
/// It works without the daemon, which does not start while a master key is missing.
package struct UnreadableSecretCommand: Sendable {
    private let file: String
    private let environment: [String: String]

    /// - Parameters:
    ///   - file: the configuration file, which names the store and the master key.
    ///   - environment: the environment of the process.
    package init(file: String, environment: [String: String]) {
        self.file = file
        self.environment = environment
    }

    /// Deletes a secret; one that opens stays.
    ///
    /// `id`: the id of an imported key, or the name of a callback's secret, as the refusal of the start prints it.
    ///
    /// - Returns: `success`, `configuration`, or `failure` for an unknown secret, one that opens, or a store that a daemon has locked.
    package func delete(_ id: String) async -> CommandOutcome {
        await RunningDaemon.outcome {
            let configuration = try DaemonConfiguration.load(file: file, environment: environment)
            let source = configuration.masterKey
            // Without it nothing opens, and a key that it opens would be deleted; nor may one be created here.
            guard access(source.path, F_OK) == 0 else {
                return CommandOutcome(
                    .configuration,
                    errorOutput: """
                        The master key \(source.path) cannot be found, so that no secret opens; nothing was deleted. \
                        Restore the file, or name it in the configuration.

                        """)
            }
            try source.check(owners: configuration.secretFiles)
            let vault = try SecretVault.open(source).vault
            let opens: @Sendable (SealedSecretRecord, ImportedKey?) -> Bool = { vault.opens($0, of: $1) }
            let deleted: [String]
            switch configuration.store {
            case .sqlite(let path):
                guard access(path, F_OK) == 0 else {
                    return CommandOutcome(.failure, errorOutput: "The store \(path) does not exist.\n")
                }
                let store = try await SQLiteStore.open(at: path)
                let result = await Self.delete(id, in: store, opens)
                await store.close()
                try OfflineStoreCommand.giveToFolderOwner(path)
                deleted = try result.get()
            case .postgres(let postgres):
                let store = try await PostgresStore.open(postgres)
                let result = await Self.delete(id, in: store, opens)
                await store.close()
                deleted = try result.get()
            }
            guard !deleted.isEmpty else {
                return CommandOutcome(
                    .failure, errorOutput: "No secret `\(id)` that does not open; nothing was deleted.\n")
            }
            return CommandOutcome(.success, output: deleted.map { "Deleted: \($0)\n" }.joined())
        }
    }

    private static func delete(
        _ id: String, in store: any SQLStore, _ opens: @escaping @Sendable (SealedSecretRecord, ImportedKey?) -> Bool
    ) async -> Result<[String], ServiceError> {
        do throws(ServiceError) {
            return .success(try await store.deleteUnreadable(id: id, opens: opens))
        } catch {
            return .failure(error)
        }
    }
}
