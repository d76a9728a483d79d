package import Domain
import Foundation
import Logging
import OpenSSL

// What operators do with keys.

extension KeyCustodian: KeyAdministration {
    package func overview() async -> KeyOverview { overviewNow() }

    package func key(_ keyID: String) async throws(ServiceError) -> KeyDetails {
        try details(keyID)
    }

    package func importKey(_ request: KeyImport, by actor: Actor) async throws(ServiceError) -> KeyDetails {
        try await acts.run { () throws(ServiceError) in
            let text = try Self.secure(request.text)
            let privateKey = try Self.privateKey(text)
            let key = ImportedKey(
                keyID: request.keyID, issuerID: request.issuerID, apps: Set(request.apps).sorted(),
                fingerprint: try Self.fingerprint(privateKey), importedAt: self.clock.now(), importedBy: actor.name)
            for app in key.apps { _ = try self.settings.apps.app(app) }
            try self.requireNew(key)
            let sealed = try self.sealed(text, key)
            let act = AuditAct(
                .keyImported, by: actor, keyID: key.keyID,
                details: [
                    "source": "imported", "issuerId": key.issuerID, "apps": key.apps.joined(separator: ","),
                    "fingerprint": Hexadecimal.encode(key.fingerprint),
                ])
            try await self.audit.record(act)
            try await self.followingUp([act]) { () throws(ServiceError) in
                guard try await self.store.addImportedKey(key, sealed: sealed) else { throw Self.taken(key.keyID) }
            }
            let entry = KeyRing.Entry(
                facts: KeyFacts(key),
                key: KeyRing.Key(keyID: key.keyID, issuerID: key.issuerID, privateKey: privateKey))
            self.ring.replace(.imported, with: self.ring.entries(of: .imported) + [entry])
            self.noteFirstSight(at: key.importedAt)
            self.logger.notice("A key was imported", metadata: ["key_id": "\(key.keyID)", "by": "\(actor.name)"])
            await self.saveNow()
            return try await self.key(key.keyID)
        }
    }

    package func check(_ keyID: String, by actor: Actor) async throws(ServiceError) -> KeyCheck {
        let check = try await ask(keyID)
        await audit.settle(
            AuditAct(
                .keyChecked, by: actor, keyID: keyID, details: ["outcome": check.passes ? "passed" : "failed"]))
        return check
    }

    package func activate(
        _ keyID: String, apps: [String]?, unchecked: Bool, by actor: Actor
    ) async throws(ServiceError) -> KeyDetails {
        let wanted = try Self.apps(apps, of: try await key(keyID).facts)
        // Apple may take its time: nobody who revokes a key waits for that.
        if !unchecked { try Self.require(try await ask(keyID, for: wanted)) }
        return try await acts.run { () throws(ServiceError) in
            let details = try await self.key(keyID)
            try self.requireSignable(details)
            // A take-over is confirmed by activating the key that has taken over.
            let takeovers = Set(self.ring.takeovers.filter { $0.keyID == keyID }.map(\.app))
            let changed = wanted.filter { !details.activeApps.contains($0) || takeovers.contains($0) }
            guard !changed.isEmpty else { return details }
            let acts = changed.map { app in
                AuditAct(
                    .keyActivated, by: actor, app: app, keyID: keyID,
                    details: [
                        "replacedKeyId": self.ring.assignments.activeKeyIDs[app] ?? "",
                        "checked": unchecked ? "false" : "true",
                    ])
            }
            for act in acts { try await self.audit.record(act) }
            let now = self.clock.now()
            let change: @Sendable (inout KeyStates, [KeyFacts]) -> Void = { states, keys in
                KeyRoles.activate(keyID, for: changed, cause: .operator, keys: keys, at: now, in: &states)
            }
            // On the disk first: what was answered as active is so after a crash, too.
            var next = self.ring.decided
            change(&next, self.ring.facts)
            let kept = next
            try await self.followingUp(acts) { () throws(ServiceError) in try await self.keep(kept) }
            self.ring.decide(change)
            self.minter.forgetRetired(self.settings.apps.all)
            self.logger.notice(
                "A key was activated",
                metadata: [
                    "key_id": "\(keyID)", "apps": "\(changed.joined(separator: ","))", "by": "\(actor.name)",
                ])
            return try await self.key(keyID)
        }
    }

    package func retire(_ keyID: String, by actor: Actor) async throws(ServiceError) -> KeyDetails {
        try await acts.run { () throws(ServiceError) in
            let details = try await self.key(keyID)
            try Self.requireUndeclared(details)
            if details.state == .revoked { throw Self.revoked(keyID) }
            guard details.state != .retired else { return details }
            // Looked at and done at once: a take-over waits for no act.
            let apps = self.ring.retire(keyID, at: self.clock.now())
            guard apps.isEmpty else { throw Self.signing(keyID, for: apps) }
            try await self.takeAway(AuditAct(.keyRetired, by: actor, keyID: keyID))
            return try await self.key(keyID)
        }
    }

    package func revoke(_ keyID: String, by actor: Actor) async throws(ServiceError) -> KeyDetails {
        try await acts.run { () throws(ServiceError) in
            let details = try await self.key(keyID)
            try Self.requireUndeclared(details)
            guard details.state != .revoked else { return details }
            let successors = self.ring.revoke(keyID, at: self.clock.now())
            // What has read its file forgets it, too.
            if details.facts.source == .directory { await self.lookAtDirectories(isFirst: false) }
            try await self.takeAway(
                AuditAct(
                    .keyRevoked, by: actor, keyID: keyID,
                    details: [
                        "was": details.state.rawValue,
                        "successors": successors.map { "\($0)=\($1 ?? "none")" }.joined(separator: ","),
                    ]))
            return try await self.key(keyID)
        }
    }

    package func delete(_ keyID: String, by actor: Actor) async throws(ServiceError) {
        try await acts.run { () throws(ServiceError) in
            let details = try await self.key(keyID)
            guard details.facts.source == .imported else {
                throw ServiceError(
                    .keyConflict,
                    details.facts.source == .directory
                        ? "Key `\(keyID)` comes from a directory; remove its file there."
                        : "Key `\(keyID)` is declared by the configuration; remove it there.")
            }
            // Gone from memory whatever the disk does; what stays on the disk then is told.
            let changes = self.ring.close(keyID, because: "it is being deleted")
            guard changes.isEmpty else { throw Self.needed(details, changes) }
            self.minter.forgetRetired(self.settings.apps.all)
            do throws(ServiceError) {
                _ = try await self.store.deleteImportedKey(id: keyID)
            } catch {
                _ = self.ring.close(keyID, because: "it could not be deleted from the store; delete it again")
                throw error
            }
            self.ring.forget(keyID)
            await self.audit.settle(AuditAct(.keyDeleted, by: actor, keyID: keyID))
            self.logger.notice("A key was deleted", metadata: ["key_id": "\(keyID)", "by": "\(actor.name)"])
            await self.overwriteRemoved()
            await self.saveNow()
        }
    }
}

// MARK: Parts of acts

extension KeyCustodian {
    /// Lets Apple judge a token by a key for each app and environment.
    private func ask(_ keyID: String, for apps: [String]? = nil) async throws(ServiceError) -> KeyCheck {
        let details = try await key(keyID)
        try requireSignable(details)
        guard let signer = ring.key(keyID) else { throw Self.closed(details) }
        // Tokens of a key that is out of use are kept no longer than this takes.
        defer { minter.forgetRetired(settings.apps.all) }
        var findings: [KeyCheck.Finding] = []
        for app in settings.apps.all where (apps ?? details.facts.apps).contains(app.slug) {
            let token = try minter.token(with: signer, for: app)
            for environment in [AppStoreEnvironment.production, .sandbox] where app.environments.contains(environment) {
                let verdict = await probe.verdict(on: token, for: app, in: environment)
                findings.append(KeyCheck.Finding(app: app.slug, environment: environment, verdict: verdict))
            }
        }
        return KeyCheck(keyID: keyID, findings: findings)
    }

    /// Does what was put on record; a failure gets a record of its own.
    private func followingUp(
        _ acts: [AuditAct], _ work: () async throws(ServiceError) -> Void
    ) async throws(ServiceError) {
        do throws(ServiceError) {
            try await work()
        } catch {
            for var failed in acts {
                failed.details["outcome"] = "failed"
                await audit.settle(failed)
            }
            throw error
        }
    }

    /// Ends an act that has taken power away: tokens are forgotten, it is kept and recorded.
    ///
    /// - Throws: `storeUnavailable` when it is not kept yet, though it has taken effect.
    private func takeAway(_ act: AuditAct) async throws(ServiceError) {
        minter.forgetRetired(settings.apps.all)
        logger.notice(
            "A key was taken out of use",
            metadata: ["act": "\(act.action.rawValue)", "key_id": "\(act.keyID ?? "")", "by": "\(act.actor.name)"])
        var failure: ServiceError?
        do throws(ServiceError) {
            try await keep(ring.decided)
        } catch {
            failure = error
        }
        await audit.settle(act)
        guard let failure else { return }
        throw ServiceError(
            .storeUnavailable,
            "It has taken effect but is not kept yet; it is tried again each second, and a restart before that would forget it.",
            cause: failure.cause ?? failure.message)
    }

    /// Sees to it that what was removed, or sealed anew, stands nowhere in the store's files any more.
    func overwriteRemoved() async {
        do throws(ServiceError) {
            try await store.overwriteRemoved()
        } catch {
            logger.warning(
                "Sealed secrets that were removed or sealed anew stay in the store's log until it is closed",
                metadata: ["cause": "\(error.cause ?? error.message)"])
        }
    }

    private nonisolated func requireNew(_ key: ImportedKey) throws(ServiceError) {
        if ring.facts.contains(where: { $0.keyID == key.keyID }) { throw Self.taken(key.keyID) }
        let fingerprint = Hexadecimal.encode(key.fingerprint)
        if let same = ring.facts.first(where: { $0.fingerprint == fingerprint }) {
            throw ServiceError(
                .keyConflict,
                "This is the private key of `\(same.keyID)`; a key has one id. App Store Connect shows which file has which."
            )
        }
    }

    private nonisolated func requireSignable(_ details: KeyDetails) throws(ServiceError) {
        if details.state == .revoked { throw Self.revoked(details.facts.keyID) }
        guard ring.key(details.facts.keyID) != nil else { throw Self.closed(details) }
    }

    private nonisolated func sealed(
        _ text: SecureBytes, _ key: ImportedKey
    ) throws(ServiceError) -> SealedSecretRecord {
        do throws(SealingError) {
            let sealed = try vault.seal(text, as: .signingKey(key))
            return vault.record(of: sealed, kind: .signingKey, name: key.keyID, createdAt: key.importedAt)
        } catch {
            throw ServiceError(.keyUnavailable, "The key cannot be sealed.", cause: "\(error)")
        }
    }

    private static func closed(_ details: KeyDetails) -> ServiceError {
        let reason = details.facts.problem ?? "the configuration declares it \(details.state.rawValue)"
        return ServiceError(.keyConflict, "Key `\(details.facts.keyID)` cannot sign: \(reason).")
    }

    private static func taken(_ keyID: String) -> ServiceError {
        ServiceError(
            .keyConflict, "There is a key `\(keyID)` already; `purser keys show \(keyID)` tells where it comes from.")
    }

    private static func requireUndeclared(_ details: KeyDetails) throws(ServiceError) {
        guard details.facts.source.isConfigured else { return }
        throw ServiceError(
            .keyConflict, "Key `\(details.facts.keyID)` is declared by the configuration; change its `state` there.")
    }

    private static func revoked(_ keyID: String) -> ServiceError {
        ServiceError(.keyConflict, "Key `\(keyID)` is revoked; import another one.")
    }

    private static func signing(_ keyID: String, for apps: [String]) -> ServiceError {
        ServiceError(
            .keyConflict,
            "Key `\(keyID)` signs for \(apps.joined(separator: ", ")); activate another one first, or revoke it.")
    }

    /// Why a key cannot be deleted without which another one would sign.
    private static func needed(_ details: KeyDetails, _ changes: [String: String?]) -> ServiceError {
        guard details.activeApps.isEmpty else { return signing(details.facts.keyID, for: details.activeApps) }
        let others = changes.sorted { $0.key < $1.key }.map { "\($0) by `\($1 ?? "")`" }
        return ServiceError(
            .keyConflict,
            "Without key `\(details.facts.keyID)` the configuration decides again who signs: \(others.joined(separator: ", ")). Activate the key that is to sign first."
        )
    }

    private static func require(_ check: KeyCheck) throws(ServiceError) {
        guard !check.passes else { return }
        let findings = check.findings.map { "\($0.app) \($0.environment.rawValue) \($0.verdict.rawValue)" }
        throw ServiceError(
            .keyConflict,
            "Apple does not take key `\(check.keyID)`: \(findings.joined(separator: ", ")). Nothing has changed; `unchecked` goes on without asking."
        )
    }

    private static func apps(_ wanted: [String]?, of key: KeyFacts) throws(ServiceError) -> [String] {
        guard let wanted else { return key.apps }
        let others = wanted.filter { !key.apps.contains($0) }
        guard others.isEmpty, !wanted.isEmpty else {
            throw .invalid([
                Violation(
                    field: "apps", rule: "value",
                    message: "`apps` must be some of the key's apps: \(key.apps.joined(separator: ", ")).")
            ])
        }
        return wanted
    }

    private static func secure(_ text: SecretText) throws(ServiceError) -> SecureBytes {
        do throws(SecureBytesError) {
            return try text.withUnsafeBytes { (bytes) throws(SecureBytesError) in
                try SecureBytes(count: bytes.count) { $0.copyMemory(from: bytes) }
            }
        } catch {
            throw ServiceError(.keyUnavailable, "The key cannot be taken into memory.", cause: "\(error)")
        }
    }

    private static func privateKey(_ text: SecureBytes) throws(ServiceError) -> ECPrivateKey {
        do throws(PrivateKeyError) {
            return try ECPrivateKey(pkcs8PEM: text)
        } catch {
            throw .invalid([Violation(field: "body", rule: "key", message: "The key is \(error).")])
        }
    }

    private static func fingerprint(_ key: ECPrivateKey) throws(ServiceError) -> [UInt8] {
        do throws(OpenSSLError) {
            return try SHA256Digest.digest(key.publicKey.derRepresentation)
        } catch {
            throw ServiceError(.keyUnavailable, "The key cannot be read.", cause: "\(error)")
        }
    }
}
