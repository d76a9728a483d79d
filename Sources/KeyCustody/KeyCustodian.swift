package import Domain
import Foundation
package import Logging
package import Metrics
import OpenSSL

/// Keeps the keys: takes them in, changes what they are for, and watches over them.
///
/// All changes go through here one after the other, but for take-overs, which the ring makes itself at the moment when Apple
/// refuses a key. What signs reads the ring and never waits for any of this.
package actor KeyCustodian {
    /// What the configuration says at the start; what a reload brings instead, `replace(with:commit:swap:)` takes.
    package struct Settings: Sendable {
        package var apps: AppCatalog
        package var directories: [KeyDirectory]
        package var warnings: KeyWarningPolicy
        /// Secrets that are sealed in files, besides those in the store; throws where they cannot be listed.
        package var sealedFiles: @Sendable () throws -> [SealedFile]

        package init(
            apps: AppCatalog, directories: [KeyDirectory] = [], warnings: KeyWarningPolicy = KeyWarningPolicy(),
            sealedFiles: @escaping @Sendable () throws -> [SealedFile] = { [] }
        ) {
            self.apps = apps
            self.directories = directories
            self.warnings = warnings
            self.sealedFiles = sealedFiles
        }
    }

    nonisolated let ring: KeyRing
    nonisolated let vault: SecretVault
    nonisolated let store: any KeyStore
    nonisolated let minter: TokenMinter
    nonisolated let probe: any KeyProbe
    nonisolated let audit: any AuditTrail
    nonisolated let settings: Settings
    nonisolated let clock: ServiceClock
    nonisolated let logger: Logger
    nonisolated let acts = SerialActs()
    private nonisolated let gauges: KeyGauges
    var directories: KeyDirectoryReader
    var warnings: KeyWarningPolicy
    /// What the store has; nil before it was asked.
    private var saved: KeyStates?
    /// When other copies' decisions were last looked for.
    private var lookedAtStore: ContinuousClock.Instant?
    private var hasSavingFailed = false
    /// What was wrong with the directories at the last look.
    var directoryProblems: [String] = []
    private var lastLook: Look?
    private var toldWarnings: Set<String> = []

    package init(
        ring: KeyRing, vault: SecretVault, store: any KeyStore, minter: TokenMinter, probe: any KeyProbe,
        audit: any AuditTrail, settings: Settings, clock: ServiceClock, metrics: any MetricsFactory, logger: Logger
    ) {
        self.ring = ring
        self.vault = vault
        self.store = store
        self.minter = minter
        self.probe = probe
        self.audit = audit
        self.settings = settings
        self.clock = clock
        self.logger = logger
        gauges = KeyGauges(metrics)
        directories = KeyDirectoryReader(settings.directories)
        warnings = settings.warnings
    }

    // MARK: The start

    /// Takes up what was decided before, opens the imported keys, and looks at the directories.
    ///
    /// A key that does not open is told and stays out; the others serve.
    /// - Throws: `storeUnavailable`.
    package func start() async throws(ServiceError) {
        let decided = try await store.keyStates()
        saved = decided
        ring.decide { states, _ in states = decided }
        await removeDrafts()
        await finishRewrap()
        try await openImportedKeys()
        await lookAtDirectories(isFirst: true)
        for role in ring.takeovers {
            logger.warning(
                "A standby key still signs in the place of one that Apple has refused; activate it, or another one",
                metadata: [
                    "app": "\(role.app)", "key_id": "\(role.keyID)", "refused_key_id": "\(role.replacedKeyID ?? "")",
                    "since": "\(role.since.formatted(.iso8601))",
                ])
        }
        await saveNow()
    }

    /// Opens what is imported; a key whose id the configuration has taken since stays closed.
    func openImportedKeys() async throws(ServiceError) {
        let taken = Set(ring.facts.filter { $0.source != .imported }.map(\.keyID))
        ring.replace(.imported, with: try await importedKeys(besides: taken))
        noteFirstSight(at: clock.now())
    }

    /// The imported keys, opened; without those whose ids the configuration has taken.
    func importedKeys(besides taken: Set<String>) async throws(ServiceError) -> [KeyRing.Entry] {
        let sealed = try await store.sealedSecrets().filter { $0.kind == .signingKey }
        let sealedByID = Dictionary(sealed.map { ($0.name, $0) }) { first, _ in first }
        let known = ring.decided.histories
        var entries: [KeyRing.Entry] = []
        for imported in try await store.importedKeys() {
            guard !taken.contains(imported.keyID) else {
                logger.warning(
                    "The configuration declares a key that is imported, too; the imported one is not used",
                    metadata: ["key_id": "\(imported.keyID)"])
                continue
            }
            let isRevoked = known[imported.keyID]?.revokedAt != nil
            entries.append(open(imported, isRevoked ? nil : sealedByID[imported.keyID], isRevoked: isRevoked))
        }
        for entry in entries {
            guard let problem = entry.facts.problem else { continue }
            logger.error(
                "An imported key cannot be opened, and does not sign",
                metadata: ["key_id": "\(entry.facts.keyID)", "cause": "\(problem)"])
        }
        return entries
    }

    private func open(
        _ imported: ImportedKey, _ record: SealedSecretRecord?, isRevoked: Bool
    ) -> KeyRing.Entry {
        var facts = KeyFacts(imported)
        guard !isRevoked else { return KeyRing.Entry(facts: facts, key: nil) }
        guard let record else {
            facts.problem = "its sealed bytes are missing"
            return KeyRing.Entry(facts: facts, key: nil)
        }
        do {
            let text = try vault.open(SealedSecret(bytes: record.sealed), as: .signingKey(imported))
            let privateKey = try ECPrivateKey(pkcs8PEM: text)
            return KeyRing.Entry(
                facts: facts,
                key: KeyRing.Key(keyID: imported.keyID, issuerID: imported.issuerID, privateKey: privateKey))
        } catch {
            facts.problem = "\(error)"
            return KeyRing.Entry(facts: facts, key: nil)
        }
    }

    // MARK: What goes on

    /// Keeps what has changed since the last time that this succeeded, and tells how the keys are.
    ///
    /// To be called each second, and at the end. A failure is logged when it begins.
    package func save() async {
        let save: @Sendable () async throws(ServiceError) -> Void = {
            await self.saveNow()
            await self.lookAtStore()
        }
        // It throws nothing of its own.
        try? await acts.run(save)
    }

    /// The same within an act, or at the start: nothing else keeps what was decided meanwhile.
    func saveNow() async {
        await recordTakeovers()
        tell()
        ring.keepUses(at: clock.now())
        let decided = ring.decided
        guard decided != saved else { return }
        do throws(ServiceError) {
            try await keep(decided)
            hasSavingFailed = false
        } catch {
            if !hasSavingFailed {
                logger.tell("What was decided about keys could not be kept", error)
            }
            hasSavingFailed = true
        }
    }

    /// Puts take-overs on record that have happened since the last time.
    private func recordTakeovers() async {
        for role in ring.takeUntoldTakeovers() {
            await audit.settle(
                AuditAct(
                    .keyTookOver, by: .daemon, app: role.app, keyID: role.keyID,
                    details: ["refusedKeyId": role.replacedKeyID ?? ""]))
        }
    }

    /// Keeps what was decided, before or after it takes effect.
    func keep(_ decided: KeyStates) async throws(ServiceError) {
        let kept = try await store.mergeKeyStates(decided, since: saved ?? decided)
        saved = kept
        if kept != decided { try await takeUp(kept, since: decided) }
    }

    // MARK: Other copies

    /// How often other copies' decisions are looked for: with the second of ``save()`` they are in force everywhere within 5 s.
    private static let storeInterval = Duration.seconds(2)

    /// Takes up what other copies of the daemon have decided, imported and deleted.
    private func lookAtStore() async {
        let now = clock.monotonicNow()
        guard store.isShared, lookedAtStore.map({ $0.duration(to: now) >= Self.storeInterval }) ?? true else { return }
        lookedAtStore = now
        do throws(ServiceError) {
            try await followMasterKey()
            let kept = try await store.keyStates()
            let known = Set(ring.facts.filter { $0.source == .imported }.map(\.keyID))
            let declared = Set(ring.facts.filter { $0.source != .imported }.map(\.keyID))
            let stored = Set(try await store.importedKeys().map(\.keyID)).subtracting(declared)
            guard kept != saved || stored != known else { return }
            let base = saved ?? kept
            saved = kept
            try await takeUp(kept, since: base)
            // What was revoked there forgets its key here, too.
            if !directories.isEmpty { await lookAtDirectories(isFirst: false) }
        } catch {
            logger.debug("Other copies' keys cannot be looked for", metadata: ["cause": "\(error.cause ?? "")"])
        }
    }

    /// Lets what others have decided take effect.
    ///
    /// `base`: what of it was known here.
    private func takeUp(_ kept: KeyStates, since base: KeyStates) async throws(ServiceError) {
        ring.decide { states, _ in states = states.merged(with: kept, since: base) }
        try await openImportedKeys()
        minter.forgetRetired(settings.apps.all)
    }

    /// Notes when this installation first had each key.
    nonisolated func noteFirstSight(at now: Date) {
        ring.decide { states, keys in
            for key in keys where states.histories[key.keyID] == nil {
                states.histories[key.keyID] = KeyHistory(keyID: key.keyID, firstSeenAt: key.importedAt ?? now)
            }
        }
    }

    // MARK: What there is

    /// Every key as an operator may see it.
    package func overviewNow() -> KeyOverview {
        let (view, now) = (ring.view, clock.now())
        let keys = view.facts.map { details($0, view, at: now) }
        let order: [KeyStatus.State] = [.active, .standby, .retired, .revoked]
        return KeyOverview(
            masterKeyID: vault.masterKeyID,
            keys: order.flatMap { state in keys.filter { $0.state == state } },
            appsWithoutStandby: view.assignments.appsWithoutStandby, directoryProblems: directoryProblems)
    }

    /// One key.
    ///
    /// - Throws: `keyNotFound`
    func details(_ keyID: String) throws(ServiceError) -> KeyDetails {
        let view = ring.view
        guard let facts = view.facts.first(where: { $0.keyID == keyID }) else {
            throw ServiceError(.keyNotFound, "There is no key `\(keyID)`; `purser keys list` shows all.")
        }
        return details(facts, view, at: clock.now())
    }

    private func details(_ facts: KeyFacts, _ view: KeyRing.View, at now: Date) -> KeyDetails {
        let state = view.assignments.states[facts.keyID] ?? .standby
        let history = view.decided.histories[facts.keyID]
        return KeyDetails(
            facts: facts, state: state, activeApps: view.assignments.apps(of: facts.keyID), history: history,
            warnings: warnings.warnings(about: facts, state, history, at: now))
    }

    /// Brings metrics up to date and logs warnings that begin to hold, when something has changed or a minute has passed.
    private func tell() {
        let look = Look(
            generation: ring.view.generation, directoryProblems: directoryProblems,
            minute: Int((clock.now().timeIntervalSince1970 / 60).rounded(.down)))
        guard look != lastLook else { return }
        lastLook = look
        let overview = overviewNow()
        gauges.record(overview, takeovers: ring.takeovers.count)
        let aboutKeys = overview.keys.flatMap { key in key.warnings.map { "\(key.facts.keyID): \($0)" } }
        let warnings = Set(aboutKeys + overview.appsWithoutStandby.map { "app \($0) has no standby key" })
        for warning in warnings.subtracting(toldWarnings).sorted() { logger.warning("Keys: \(warning)") }
        toldWarnings = warnings
    }

    /// What metrics and warnings follow from.
    private struct Look: Equatable {
        let generation: Int
        let directoryProblems: [String]
        /// Since 1970: keys grow old.
        let minute: Int
    }
}

extension KeyFacts {
    init(_ key: ImportedKey) {
        self.init(
            keyID: key.keyID, issuerID: key.issuerID, apps: key.apps, source: .imported,
            fingerprint: Hexadecimal.encode(key.fingerprint), importedAt: key.importedAt, importedBy: key.importedBy)
    }
}

extension SecretIdentity {
    /// What a secret of the store is sealed as; nil for a signing key's without its imported key.
    init?(of record: SealedSecretRecord, _ key: ImportedKey?) {
        switch record.kind {
        case .installation: self = .installationSecret(record.originalName)
        case .callback: self = .callbackSecret(record.name)
        case .signingKey:
            guard let key else { return nil }
            self = .signingKey(key)
        }
    }

    /// What an imported key is sealed as.
    static func signingKey(_ key: ImportedKey) -> SecretIdentity {
        .signingKey(key.keyID, issuerID: key.issuerID, apps: key.apps)
    }
}
