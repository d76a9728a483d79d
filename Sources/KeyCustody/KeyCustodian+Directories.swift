import Domain
import Logging

// What directories of keys bring and take away.

extension KeyCustodian {
    /// How often the directories of keys are looked at.
    package static let directoryInterval = Duration.seconds(5)

    /// Looks at the directories of keys; to be called every few seconds.
    package func lookAtDirectories() async {
        guard !directories.isEmpty else { return }
        let look: @Sendable () async throws(ServiceError) -> Void = { await self.lookAtDirectories(isFirst: false) }
        // It throws nothing of its own.
        try? await acts.run(look)
    }

    /// Looks at the directories; to be called within an act, or at the start.
    func lookAtDirectories(isFirst: Bool) async {
        let before = ring.entries(of: .directory).map(\.facts)
        let elsewhere = ring.facts.filter { $0.source != .directory }
        let taken = Dictionary(elsewhere.map { ($0.keyID, $0.source) }) { first, _ in first }
        let findings = await findings(in: directories, taken: taken)
        tell(findings.problems)
        guard isFirst || findings.facts != before || !findings.gone.isEmpty else { return }
        await take(findings, isFirst: isFirst) { ring.replace(.directory, with: findings.entries) }
    }

    /// What a look at directories finds.
    struct DirectoryFindings: Sendable {
        /// The keys that may be taken up.
        let entries: [KeyRing.Entry]
        /// The ids of those that are there no more.
        let gone: [String]
        let problems: [String]

        var facts: [KeyFacts] { entries.map(\.facts) }
    }

    /// Looks at directories; `taken`: ids of keys that come from elsewhere, with where.
    func findings(
        in directories: KeyDirectoryReader, taken: [String: KeyFacts.Source]
    ) async -> DirectoryFindings {
        let before = ring.entries(of: .directory).map(\.facts)
        let revoked = revokedKeyIDs
        let scan = await Blocking.run { directories.scan(taken: taken, revoked: revoked) }
        let (entries, unrecorded) = await recorded(scan.entries)
        return DirectoryFindings(
            entries: entries, gone: gone(from: scan, since: before), problems: scan.problems + unrecorded)
    }

    /// The ids of keys that may never sign again.
    var revokedKeyIDs: Set<String> {
        Set(ring.decided.histories.values.lazy.filter { $0.revokedAt != nil }.map(\.keyID))
    }

    /// Takes up what a look has found.
    ///
    /// `isFirst`: who has signed in an earlier run does not begin to sign at this start; `replace`: puts the keys into the ring.
    func take(_ findings: DirectoryFindings, isFirst: Bool, _ replace: () -> Void) async {
        var activeBefore = ring.assignments.activeKeyIDs
        let now = clock.now()
        replace()
        if isFirst { activeBefore = ring.assignments.activeKeyIDs }
        noteFirstSight(at: now)
        ring.decide { states, keys in
            KeyRoles.chooseFromDirectories(keys: keys, at: now, in: &states)
            for key in findings.facts {
                guard let fingerprint = key.fingerprint else { continue }
                states.histories[key.keyID]?.directoryFingerprint = fingerprint
            }
        }
        minter.forgetRetired(settings.apps.all)
        await tellOfDirectoryKeys(gone: findings.gone, activeBefore: activeBefore)
        // After its record: a crash in between may repeat the record, and loses none.
        ring.decide { states, _ in
            for keyID in findings.gone { states.histories[keyID]?.directoryFingerprint = nil }
        }
        await saveNow()
    }

    /// The keys whose files are gone since the last look, or since an earlier run had them.
    ///
    /// What an earlier run had counts only while every directory can be read: which of them it was in is not known.
    private func gone(from scan: KeyDirectoryReader.Scan, since before: [KeyFacts]) -> [String] {
        let kept = ring.decided.histories.values.lazy.filter { $0.directoryFingerprint != nil }.map(\.keyID)
        return Set(before.map(\.keyID)).union(scan.isComplete ? Set(kept) : []).subtracting(scan.keyIDs).sorted()
    }

    /// Puts on record that a directory has brought keys, before any of them can sign.
    ///
    /// A private key that an earlier run has had from a directory has its record, and one that is revoked cannot sign. Where there
    /// is no record of another private key under an id, the one before stays.
    ///
    /// - Returns: the keys that may be taken up, and of which others nothing could be recorded; those are tried again.
    private func recorded(
        _ scanned: [KeyRing.Entry]
    ) async -> (entries: [KeyRing.Entry], unrecorded: [String]) {
        let held = Dictionary(ring.entries(of: .directory).map { ($0.facts.keyID, $0) }) { first, _ in first }
        let histories = ring.decided.histories
        var entries: [KeyRing.Entry] = []
        var unrecorded: [String] = []
        for entry in scanned {
            let (keyID, fingerprint) = (entry.facts.keyID, entry.facts.fingerprint)
            let isRecorded = fingerprint != nil && histories[keyID]?.directoryFingerprint == fingerprint
            if isRecorded || entry.key == nil {
                entries.append(entry)
                continue
            }
            var act = AuditAct(.keyImported, by: .daemon, keyID: keyID, details: ["source": "directory"])
            act.details["fingerprint"] = fingerprint
            do throws(ServiceError) {
                try await audit.record(act)
                entries.append(entry)
                logger.notice("A directory has brought a key", metadata: ["key_id": "\(keyID)"])
            } catch {
                unrecorded.append("key \(keyID) waits until the audit can record it")
                if let held = held[keyID] { entries.append(held) }
            }
        }
        return (entries, unrecorded)
    }

    /// Records and logs what a directory has taken away, and who signs since.
    private func tellOfDirectoryKeys(gone: [String], activeBefore: [String: String]) async {
        for keyID in gone {
            logger.notice("A directory has taken a key away", metadata: ["key_id": "\(keyID)"])
            await audit.settle(AuditAct(.keyDeleted, by: .daemon, keyID: keyID, details: ["source": "directory"]))
        }
        let fromDirectories = Set(ring.entries(of: .directory).map(\.facts.keyID))
        for (app, keyID) in ring.assignments.activeKeyIDs where activeBefore[app] != keyID {
            guard fromDirectories.contains(keyID) else { continue }
            logger.notice("A directory's key signs now", metadata: ["app": "\(app)", "key_id": "\(keyID)"])
            await audit.settle(
                AuditAct(.keyActivated, by: .daemon, app: app, keyID: keyID, details: ["source": "directory"]))
        }
    }

    func tell(_ problems: [String]) {
        for problem in problems where !directoryProblems.contains(problem) {
            logger.error("A file of a key directory is not used", metadata: ["cause": "\(problem)"])
        }
        directoryProblems = problems
    }
}
