package import Domain
import Foundation
import Logging
import Synchronization

// Another master key, while everything goes on.

extension KeyCustodian {
    /// The new key is beside the old one in the file before anything is sealed under it, and the old one leaves the file when
    /// nothing is sealed under it any more: whatever fails midway, everything opens, and asking again ends it.
    package func rewrap(by actor: Actor) async throws(ServiceError) -> MasterKeyChange {
        try await acts.run { () throws(ServiceError) in
            let before = self.vault.masterKeyID
            try await self.requireNextEverywhere()
            try await self.takeNextMasterKey()
            return try await self.sealAnew(from: before, by: actor)
        }
    }

    /// Removes what a process that was killed has left of files with secrets.
    ///
    /// Only where the daemon alone writes them: it holds the store's lock.
    func removeDrafts() async {
        let count = await Blocking.run { [vault, settings] in
            var paths = ((try? settings.sealedFiles()) ?? []).map(\.path)
            if case .made(let path) = vault.source { paths.append(path) }
            return paths.reduce(0) { $0 + SecretFileDraft.removeAll(of: $1) }
        }
        guard count > 0 else { return }
        logger.notice("Secret file drafts removed", metadata: ["count": .stringConvertible(count)])
    }

    /// Ends a change of the service's own master key that an earlier run has not.
    func finishRewrap() async {
        guard case .made = vault.source, vault.hasEarlierKeys else { return }
        do throws(ServiceError) {
            _ = try await sealAnew(from: nil, by: .daemon)
        } catch {
            logger.error(
                "A change of the master key that was broken off could not be ended; run `purser keys rewrap`",
                metadata: ["cause": "\(error.cause ?? error.message)"])
        }
    }

    /// Seals everything under the present master key, and puts on record what became of it.
    ///
    /// `before`: the id of the master key until now; nil where an earlier run has changed it.
    private func sealAnew(from before: String?, by actor: Actor) async throws(ServiceError) -> MasterKeyChange {
        var act = AuditAct(.masterKeyChanged, by: actor, details: ["to": vault.masterKeyID])
        act.details["from"] = before
        let change: MasterKeyChange
        do throws(ServiceError) {
            change = try await sealAnew()
        } catch {
            // The other master key seals from now on, whatever is still sealed under the one before.
            act.details["outcome"] = "failed"
            await audit.settle(act)
            throw error
        }
        act.details["rewrapped"] = String(change.rewrapped)
        act.details["failures"] = String(change.failures.count)
        await audit.settle(act)
        logger.notice(
            "Secrets were sealed under another master key",
            metadata: [
                "master_key_id": "\(change.masterKeyID)", "count": .stringConvertible(change.rewrapped),
                "failures": .stringConvertible(change.failures.count),
            ])
        return change
    }

    /// Refuses a change of the master key while an instance on the store could not open what it seals.
    private func requireNextEverywhere() async throws(ServiceError) {
        guard store.isShared else { return }
        let result = await Blocking.run { [vault] in
            Result { () throws(SecretFileError) in try vault.nextID() }
        }
        // `takeNextMasterKey` reports a file that cannot be read.
        guard case .success(let next?) = result else { return }
        let lacking = try await store.instances(lacking: next, at: clock.now())
        guard lacking.isEmpty else {
            throw ServiceError(
                .keyUnavailable,
                "Master key \(next) is not on every instance: \(lacking.joined(separator: ", ")) did not report it. "
                    + "Add it to their files, restart them, and run this again.")
        }
    }

    /// Follows a change of the master key that another instance has made: seals under the same key, and this instance's files as well.
    func followMasterKey() async throws(ServiceError) {
        let records = try await store.sealedSecrets()
        let own = records.filter { $0.kind == .installation && $0.name == $0.originalName }
        guard let current = own.first(where: { vault.holds(masterKeyID: $0.masterKeyID) })?.masterKeyID,
            current != vault.masterKeyID
        else { return }
        vault.seal(under: current)
        // Every key of the file stays: the store may go back to another one, where a rewrap fails.
        let held = Set(vault.masterKeyIDs)
        let files = await Blocking.run { [vault, settings] in
            SealedFileRewrap(settings.sealedFiles, with: vault, alsoNeeded: held)
        }
        logger.notice(
            "Master key changed by another instance",
            metadata: [
                "master_key_id": "\(current)", "count": .stringConvertible(files.count),
                "failures": .stringConvertible(files.failures.count),
            ])
    }

    /// Makes the next master key the one that seals: one of the service's own, or what the operator has put first in the file.
    private func takeNextMasterKey() async throws(ServiceError) {
        let result = await Blocking.run { [vault] in
            Result { () throws(SecretFileError) in try vault.takeNext() }
        }
        do throws(SecretFileError) {
            try result.get()
        } catch {
            throw ServiceError(.keyUnavailable, "There is no other master key: \(error)", cause: "\(error)")
        }
    }

    /// Seals everything under the present master key, and forgets those before it once nothing needs them.
    private func sealAnew() async throws(ServiceError) -> MasterKeyChange {
        let imported = try await store.importedKeys()
        let keys = Dictionary(imported.map { ($0.keyID, $0) }) { first, _ in first }
        let failures = Mutex<[String: String]>([:])
        let present = vault.masterKeyID
        let count = try await store.rewrapSealedSecrets { [vault] record in
            guard record.masterKeyID != present else { return nil }
            guard let identity = SecretIdentity(of: record, keys[record.name]) else {
                failures.withLock { $0[record.name] = "key \(record.name) is sealed, and nothing is known of it" }
                return nil
            }
            do throws(SealingError) {
                let sealed = try vault.rewrapped(SealedSecret(bytes: record.sealed), as: identity)
                return record.replacing(sealed: sealed.bytes, masterKeyID: sealed.masterKeyID)
            } catch {
                failures.withLock { $0[identity.name] = "\(error)" }
                return nil
            }
        }
        if count > 0 { await overwriteRemoved() }
        let inStore = Set(try await store.sealedSecrets().map(\.masterKeyID))
        let files = await Blocking.run { [vault, settings] in
            SealedFileRewrap(settings.sealedFiles, with: vault, alsoNeeded: inStore)
        }
        if let problem = files.cleaningProblem {
            logger.warning(
                "The earlier master key could not be taken out of its file; the next rewrap does it",
                metadata: ["cause": "\(problem)"])
        }
        let all = failures.withLock { $0.sorted { $0.key < $1.key }.map(\.value) } + files.failures
        // What still needs an earlier key may not lose it.
        let mayBeCleaned = all.isEmpty && !vault.hasEarlierKeys
        return MasterKeyChange(
            masterKeyID: present, rewrapped: count + files.count, failures: all,
            fileToClean: mayBeCleaned ? vault.fileToClean : nil)
    }
}

/// What became of the files with sealed secrets, and of the master keys that nothing needs any more.
///
/// Blocks.
private struct SealedFileRewrap: Sendable {
    private(set) var count = 0
    private(set) var failures: [String] = []
    private(set) var cleaningProblem: String?

    init(_ files: () throws -> [SealedFile], with vault: SecretVault, alsoNeeded inStore: Set<String>) {
        var needed = inStore
        // A file that cannot be read may need any of the earlier keys.
        var isAllNeeded = false
        do {
            for file in try files() {
                do throws(SecretFileError) {
                    if try file.rewrap(with: vault) { count += 1 }
                } catch {
                    failures.append("\(error)")
                    if let masterKeyID = file.masterKeyID { needed.insert(masterKeyID) } else { isAllNeeded = true }
                }
            }
        } catch {
            failures.append("\(error)")
            isAllNeeded = true
        }
        guard !isAllNeeded else { return }
        do throws(SecretFileError) {
            try vault.forgetEarlier(except: needed)
        } catch {
            cleaningProblem = "\(error)"
        }
    }
}
