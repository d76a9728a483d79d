package import Domain
import Foundation
import OpenSSL
import Synchronization

/// The keys of this process: the only place that holds private keys.
///
/// Whoever signs sees one consistent state, and what changes it (`KeyCustodian`, a take-over) is in force with the next
/// signature. A private key is wiped when the last signature that uses it is made.
package final class KeyRing: Sendable {
    /// A key that can sign.
    struct Key: Sendable {
        let keyID: String
        let issuerID: String
        let privateKey: ECPrivateKey
    }

    /// What is known of a key, and the key itself where it may still sign.
    struct Entry: Sendable {
        let facts: KeyFacts
        let key: Key?
    }

    private struct State {
        /// In the order in which they are preferred: the configuration's, then the directories', then the imported ones.
        var entries: [Entry]
        var decided: KeyStates
        private(set) var assignments: KeyAssignments
        private(set) var keys: [String: Key] = [:]
        /// Those that nobody has put on record yet.
        var untoldTakeovers: [KeyRole] = []
        /// Counts the changes.
        private(set) var generation = 0

        init(_ entries: [Entry], _ decided: KeyStates) {
            self.entries = entries
            self.decided = decided
            assignments = KeyAssignments([], KeyStates())
            refresh()
        }

        var facts: [KeyFacts] { entries.map(\.facts) }

        /// Takes the private half of a key away, and says why where it is a problem.
        mutating func close(_ keyID: String, because problem: String?) {
            guard let index = entries.firstIndex(where: { $0.facts.keyID == keyID }) else { return }
            var facts = entries[index].facts
            if let problem { facts.problem = problem }
            entries[index] = Entry(facts: facts, key: nil)
            refresh()
        }

        mutating func refresh() {
            keys = Dictionary(entries.compactMap { entry in entry.key.map { ($0.keyID, $0) } }) { first, _ in first }
            assignments = KeyAssignments(facts, decided)
            generation += 1
        }
    }

    /// Everything but the keys themselves, as it is at one moment.
    struct View: Sendable {
        /// Another one whenever something has changed but the last uses.
        let generation: Int
        let facts: [KeyFacts]
        let assignments: KeyAssignments
        /// What has been decided, and when each key was last used.
        let decided: KeyStates
    }

    private let state: Mutex<State>
    /// When each key last signed, to the minute; apart from the rest, since it changes nothing of it.
    private let uses = Mutex<[String: Date]>([:])

    /// Reads every declared key that may still sign.
    ///
    /// - Throws: `KeyFileError` for the first that cannot be used.
    package init(loading declarations: [KeyDeclaration]) throws(KeyFileError) {
        state = Mutex(State(try Self.entries(loading: declarations), KeyStates()))
    }

    /// What there is of declared keys, those that may still sign read from their files.
    static func entries(loading declarations: [KeyDeclaration]) throws(KeyFileError) -> [Entry] {
        var entries: [Entry] = []
        for declaration in declarations where canSign(declaration) {
            entries.append(Entry(declaration, try KeyFile.load(declaration)))
        }
        return entries + declarations.filter { !canSign($0) }.map { Entry($0, nil) }
    }

    private static func canSign(_ declaration: KeyDeclaration) -> Bool {
        declaration.state == .active || declaration.state == .standby
    }

    // MARK: Signing

    /// The key that signs for an app.
    func activeKey(for app: App) -> Key? {
        state.withLock { state in state.assignments.activeKeyIDs[app.slug].flatMap { state.keys[$0] } }
    }

    /// The key to sign with for an app.
    ///
    /// - Throws: `keyUnavailable` when it has none.
    func signingKey(for app: App) throws(ServiceError) -> Key {
        guard let key = activeKey(for: app) else {
            throw ServiceError(
                .keyUnavailable,
                "App `\(app.slug)` has no active key; `purser keys list` shows those there are, docs/keys.md how to add one."
            )
        }
        return key
    }

    /// The id of the key that signs for an app, for whoever must not see the key.
    package func activeKeyID(for app: App) -> String? { activeKey(for: app)?.keyID }

    /// The keys that could take over for an app, in the order of preference.
    func standbyKeys(for app: App) -> [Key] {
        state.withLock { state in
            (state.assignments.standbyKeyIDs[app.slug] ?? []).compactMap { state.keys[$0] }
        }
    }

    /// A key by its id, if it may sign.
    func key(_ keyID: String) -> Key? { state.withLock { $0.keys[keyID] } }

    /// Whether a key signs for an app, or could take over.
    func mayServe(_ keyID: String, _ app: App) -> Bool {
        state.withLock { state in
            state.keys[keyID] != nil
                && (state.assignments.activeKeyIDs[app.slug] == keyID
                    || state.assignments.standbyKeyIDs[app.slug]?.contains(keyID) == true)
        }
    }

    /// Notes that a key has signed.
    func noteUse(_ keyID: String, at now: Date) {
        let minute = Self.minute(of: now)
        uses.withLock { uses in
            if uses[keyID] != minute { uses[keyID] = minute }
        }
    }

    /// Adds the uses to what is kept, but for those of the present minute: then all keys together change it once a minute.
    func keepUses(at now: Date) {
        let minute = Self.minute(of: now)
        let ended = uses.withLock { uses in
            defer { uses = uses.filter { $0.value >= minute } }
            return uses.filter { $0.value < minute }
        }
        state.withLock { Self.add(ended, to: &$0.decided) }
    }

    private static func minute(of date: Date) -> Date {
        Date(timeIntervalSince1970: (date.timeIntervalSince1970 / 60).rounded(.down) * 60)
    }

    private static func add(_ uses: [String: Date], to decided: inout KeyStates) {
        for (keyID, date) in uses {
            guard let kept = decided.histories[keyID], kept.lastUsedAt.map({ $0 < date }) ?? true else { continue }
            decided.histories[keyID]?.lastUsedAt = date
        }
    }

    // MARK: Changes

    /// Makes a standby key the active one of an app, in the place of one that Apple has refused.
    ///
    /// - Returns: false when the refused key is not the active one any more, or the other none that stands by.
    func takeOver(_ keyID: String, from refusedKeyID: String, for app: App, at now: Date) -> Bool {
        state.withLock { state in
            guard state.assignments.activeKeyIDs[app.slug] == refusedKeyID,
                state.assignments.standbyKeyIDs[app.slug]?.contains(keyID) == true
            else { return false }
            KeyRoles.activate(
                keyID, for: [app.slug], cause: .takeover, keys: state.facts, at: now, in: &state.decided)
            state.refresh()
            if let role = state.assignments.activeRoles[app.slug] { state.untoldTakeovers.append(role) }
            return true
        }
    }

    /// The take-overs that have happened since this was asked the last time, in their order.
    func takeUntoldTakeovers() -> [KeyRole] {
        state.withLock { state in
            defer { state.untoldTakeovers = [] }
            return state.untoldTakeovers
        }
    }

    /// Changes what has been decided; in force when this returns.
    func decide<Value>(_ change: (inout KeyStates, [KeyFacts]) -> Value) -> Value {
        state.withLock { state in
            let value = change(&state.decided, state.facts)
            state.refresh()
            return value
        }
    }

    /// Takes a key out of standby for all of its apps.
    ///
    /// - Returns: the apps that it signs for; unless there are none, nothing has changed.
    func retire(_ keyID: String, at now: Date) -> [String] {
        decide { states, keys in KeyRoles.retire(keyID, keys: keys, at: now, in: &states) }
    }

    /// Takes a key out of use for good; its private half goes with the last signature that uses it.
    ///
    /// - Returns: the apps that it has signed for, each with the key that does so now.
    func revoke(_ keyID: String, at now: Date) -> [(app: String, successor: String?)] {
        state.withLock { state in
            let apps = KeyRoles.revoke(keyID, keys: state.facts, at: now, in: &state.decided)
            state.close(keyID, because: nil)
            return apps.map { ($0, state.assignments.activeKeyIDs[$0]) }
        }
    }

    /// Takes a key out of memory that is to be deleted; what is known of it stays until ``forget(_:)``.
    ///
    /// `problem`: what is said of it meanwhile.
    ///
    /// - Returns: who would sign in its place, by app; unless this is empty, nothing has changed.
    func close(_ keyID: String, because problem: String) -> [String: String?] {
        state.withLock { state in
            let changes = KeyRoles.changes(byForgetting: keyID, keys: state.facts, state.decided)
            if changes.isEmpty { state.close(keyID, because: problem) }
            return changes
        }
    }

    /// Forgets a key that was deleted, and what was decided about it.
    func forget(_ keyID: String) {
        state.withLock { state in
            state.entries.removeAll { $0.facts.keyID == keyID }
            KeyRoles.forget(keyID, in: &state.decided)
            state.refresh()
        }
    }

    /// Puts keys in the place of all that came from a source.
    func replace(_ source: KeyFacts.Source, with entries: [Entry]) {
        state.withLock { state in
            state.entries.removeAll { $0.facts.source == source }
            let rank = KeyFacts.Source.preference
            let place = state.entries.firstIndex { (rank[$0.facts.source] ?? 0) > (rank[source] ?? 0) }
            state.entries.insert(contentsOf: entries, at: place ?? state.entries.endIndex)
            state.refresh()
        }
    }

    /// Puts keys in the place of all that there are: the configuration's, then the directories', then the imported ones.
    func replaceAll(with entries: [Entry]) {
        state.withLock { state in
            state.entries = entries
            state.refresh()
        }
    }

    // MARK: What there is

    /// What is known of every key, those that are preferred first.
    var facts: [KeyFacts] { state.withLock(\.facts) }

    /// The keys of a source with what is known of them.
    func entries(of source: KeyFacts.Source) -> [Entry] {
        state.withLock { $0.entries.filter { $0.facts.source == source } }
    }

    /// What has been decided, and when each key was last used as far as that is kept.
    var decided: KeyStates { state.withLock(\.decided) }

    var assignments: KeyAssignments { state.withLock(\.assignments) }

    /// All of it at one moment.
    var view: View {
        let view = state.withLock { state in
            View(
                generation: state.generation, facts: state.facts, assignments: state.assignments,
                decided: state.decided)
        }
        var decided = view.decided
        Self.add(uses.withLock(\.self), to: &decided)
        return View(
            generation: view.generation, facts: view.facts, assignments: view.assignments, decided: decided)
    }

    /// The take-overs in force, in the order in which they happened.
    package var takeovers: [KeyRole] { assignments.takeovers }

    /// What an operator may know of the keys at present; those that can sign come first.
    package var statuses: [KeyStatus] {
        state.withLock { state in
            let statuses = state.facts.map { facts in
                KeyStatus(
                    keyID: facts.keyID, issuerID: facts.issuerID,
                    state: state.assignments.states[facts.keyID] ?? .standby, apps: facts.apps,
                    source: facts.source.rawValue)
            }
            return statuses.filter { state.keys[$0.keyID] != nil } + statuses.filter { state.keys[$0.keyID] == nil }
        }
    }
}

extension KeyRing.Entry {
    /// A key that the configuration declares.
    init(_ declaration: KeyDeclaration, _ privateKey: ECPrivateKey?) {
        facts = KeyFacts(
            keyID: declaration.keyID, issuerID: declaration.issuerID, apps: declaration.apps,
            source: declaration.source.kind, declaredState: declaration.state,
            fingerprint: privateKey?.publicKey.fingerprint)
        key = privateKey.map {
            KeyRing.Key(keyID: declaration.keyID, issuerID: declaration.issuerID, privateKey: $0)
        }
    }
}

extension KeyFacts.Source {
    /// Which source's keys are preferred where several stand by.
    fileprivate static let preference: [KeyFacts.Source: Int] = [.file: 0, .credential: 0, .directory: 1, .imported: 2]
}

extension ECPublicKey {
    /// SHA-256 of the SubjectPublicKeyInfo, in hexadecimal digits; nil where it cannot be computed.
    var fingerprint: String? { try? SHA256Digest.hexadecimalDigest(derRepresentation) }
}
