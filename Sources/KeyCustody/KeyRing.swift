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

        init(_ entries: [Entry], _ decided: KeyStates) {
            self.entries = entries
            self.decided = decided
            assignments = KeyAssignments([], KeyStates())
            refresh()
        }

        var facts: [KeyFacts] { entries.map(\.facts) }

        mutating func refresh() {
            keys = Dictionary(entries.compactMap { entry in entry.key.map { ($0.keyID, $0) } }) { first, _ in first }
            assignments = KeyAssignments(facts, decided)
        }
    }

    private let state: Mutex<State>
    /// When each key last signed, to the minute; apart from the rest, since it changes nothing of it.
    private let uses = Mutex<[String: Date]>([:])

    /// Reads every declared key that may still sign.
    ///
    /// - Throws: `KeyFileError` for the first that cannot be used.
    package init(loading declarations: [KeyDeclaration]) throws(KeyFileError) {
        var entries: [Entry] = []
        for declaration in declarations where Self.canSign(declaration) {
            entries.append(Entry(declaration, try KeyFile.load(declaration)))
        }
        entries += declarations.filter { !Self.canSign($0) }.map { Entry($0, nil) }
        state = Mutex(State(entries, KeyStates()))
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
        let minute = Date(timeIntervalSince1970: (now.timeIntervalSince1970 / 60).rounded(.down) * 60)
        uses.withLock { uses in
            if uses[keyID] != minute { uses[keyID] = minute }
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
                keyID, for: app.slug, cause: .takeover, keys: state.facts, at: now, in: &state.decided)
            state.refresh()
            return true
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

    // MARK: What there is

    /// What is known of every key, those that are preferred first.
    var facts: [KeyFacts] { state.withLock(\.facts) }

    /// The keys of a source with what is known of them.
    func entries(of source: KeyFacts.Source) -> [Entry] {
        state.withLock { $0.entries.filter { $0.facts.source == source } }
    }

    /// What has been decided, and when each key was last used.
    var decided: KeyStates {
        var decided = state.withLock(\.decided)
        for (keyID, date) in uses.withLock(\.self) {
            guard let kept = decided.histories[keyID], kept.lastUsedAt.map({ $0 < date }) ?? true else { continue }
            decided.histories[keyID]?.lastUsedAt = date
        }
        return decided
    }

    var assignments: KeyAssignments { state.withLock(\.assignments) }

    /// The take-overs in force, in the order in which they happened.
    package var takeovers: [KeyRole] {
        assignments.activeRoles.values.filter { $0.cause == .takeover }.sorted {
            ($0.since, $0.app) < ($1.since, $1.app)
        }
    }

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

/// One In-App Purchase key as the configuration declares it.
package struct KeyDeclaration: Sendable, Equatable {
    /// Apple's key id: the token's `kid`.
    package let keyID: String
    /// Apple's issuer id: the token's `iss`.
    package let issuerID: String
    /// The `.p8` file.
    package let path: String
    /// Where the file comes from.
    package let source: Source
    package let state: KeyStatus.State
    /// The apps it signs for, by slug.
    package let apps: [String]

    package enum Source: Sendable, Equatable {
        /// A file that the configuration names. Group-readable only where the operator says so (Kubernetes `fsGroup`).
        case file(allowsGroupRead: Bool)
        /// A file of `$CREDENTIALS_DIRECTORY`, which systemd shows group-readable from version 254 on.
        case credential

        var allowsGroupRead: Bool {
            switch self {
            case .file(let allowed): allowed
            case .credential: true
            }
        }

        var kind: KeyFacts.Source {
            switch self {
            case .file: .file
            case .credential: .credential
            }
        }
    }

    package init(
        keyID: String, issuerID: String, path: String, source: Source, state: KeyStatus.State, apps: [String]
    ) {
        self.keyID = keyID
        self.issuerID = issuerID
        self.path = path
        self.source = source
        self.state = state
        self.apps = apps
    }
}
