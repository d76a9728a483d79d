import Domain
import Foundation
import TestSupport
import Testing

/// Random lives of keys: who signs is always who the manual says.
struct KeyLifeTests {
    @Test(arguments: UInt64(1)...4)
    func `whatever happens in whatever order, the right key signs, and no app loses one that could`(seed: UInt64) {
        var life = KeyLife(seed: seed)
        var acts: [String] = []
        for _ in 0..<700 {
            let (act, faults) = life.step()
            acts.append(act)
            guard faults.isEmpty else {
                Issue.record("seed \(seed), after \(acts.suffix(12)): \(faults)")
                return
            }
        }
    }
}

/// The keys of an installation through random acts, accidents and restarts, beside a small model of what must come of them.
///
/// The model knows nothing of roles: only who was decided upon for an app, what the configuration said then, and which keys were
/// replaced. It is the manual's text (`docs/keys.md`) as a program.
struct KeyLife {
    static let apps = ["coins", "gems", "pearls"]
    private static let ids: [KeyFacts.Source: [String]] = [
        .file: ["A", "B", "C", "D"], .directory: ["D", "E"], .imported: ["I", "J", "K"],
    ]

    /// What was decided for an app, and which key the configuration declared active for it then.
    private struct Decision: Equatable {
        let keyID: String
        let declaredKeyID: String?
    }

    private var random: SeededRandom
    private var now = Date(timeIntervalSince1970: 1_700_000_000)

    // What there is.
    private var keys: [KeyFacts] = []
    private var states = KeyStates()
    private var present = KeyAssignments([], KeyStates())

    // The model.
    private var decisions: [String: Decision] = [:]
    /// By app and key: what the configuration declared active for the app when another took the key's place.
    private var replaced: [String: [String: String?]] = [:]
    private var retired: Set<String> = []
    private var revoked: Set<String> = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Does one thing.
    ///
    /// - Returns: what it was, and what is wrong since, one line each.
    mutating func step() -> (act: String, faults: [String]) {
        now += 1
        let (keysBefore, before) = (keys, present)
        let act = doSomething()
        let after = KeyAssignments(keys, states)
        present = after
        return (act, faultsOfModel(after) + faultsOfState(after) + losses(act, keysBefore, before, after))
    }

    // MARK: Acts

    private mutating func doSomething() -> String {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<14: importKey()
        case 14..<36: activate()
        case 36..<44: retire()
        case 44..<52: revoke()
        case 52..<62: delete()
        case 62..<76: takeOver()
        case 76..<82: change(.directory) { "a directory has other files: \($0)" }
        case 82..<86: loseOrFindMasterKey()
        case 86..<94: change(.file) { "a restart with another configuration: \($0)" }
        default: restart()
        }
    }

    private mutating func importKey() -> String {
        guard let keyID = free(.imported) else { return "nothing to import" }
        add(KeyFacts(keyID: keyID, issuerID: "issuer", apps: someApps(), source: .imported))
        return "import \(keyID)"
    }

    private mutating func activate() -> String {
        let able = keys.filter { key in
            key.problem == nil && !revoked.contains(key.keyID) && key.declaredState != .retired
                && key.declaredState != .revoked
        }
        guard let key = able.randomElement(using: &random) else { return "nothing to activate" }
        let apps = key.apps.filter { _ in Bool.random(using: &random) }
        KeyRoles.activate(key.keyID, for: apps, cause: .operator, keys: keys, at: now, in: &states)
        for app in apps { put(key.keyID, in: app, insteadOf: active(app)) }
        retired.remove(key.keyID)
        return "activate \(key.keyID) for \(apps)"
    }

    private mutating func retire() -> String {
        guard let key = undeclared() else { return "nothing to retire" }
        let apps = KeyRoles.retire(key.keyID, keys: keys, at: now, in: &states)
        if Self.apps.allSatisfy({ active($0) != key.keyID }) { retired.insert(key.keyID) }
        return "retire \(key.keyID), which signs for \(apps)"
    }

    private mutating func revoke() -> String {
        guard let key = undeclared() else { return "nothing to revoke" }
        _ = KeyRoles.revoke(key.keyID, keys: keys, at: now, in: &states)
        let apps = Self.apps.filter { active($0) == key.keyID }
        decisions = decisions.filter { $1.keyID != key.keyID || (isInForce($1, $0) && key.apps.contains($0)) }
        revoked.insert(key.keyID)
        for app in apps { if let next = standbys(app).first { put(next, in: app, insteadOf: nil) } }
        return "revoke \(key.keyID), which signed for \(apps)"
    }

    private mutating func delete() -> String {
        guard let key = keys.filter({ $0.source == .imported }).randomElement(using: &random) else {
            return "nothing to delete"
        }
        // What would make another key sign is refused.
        guard KeyRoles.changes(byForgetting: key.keyID, keys: keys, states).isEmpty else {
            return "refuse to delete \(key.keyID)"
        }
        KeyRoles.forget(key.keyID, in: &states)
        keys.removeAll { $0.keyID == key.keyID }
        decisions = decisions.filter { $0.value.keyID != key.keyID }
        for app in Self.apps { replaced[app]?[key.keyID] = nil }
        retired.remove(key.keyID)
        revoked.remove(key.keyID)
        return "delete \(key.keyID)"
    }

    private mutating func takeOver() -> String {
        guard let app = Self.apps.randomElement(using: &random), let refused = present.activeKeyIDs[app],
            let next = present.standbyKeyIDs[app]?.first
        else { return "nothing to take over" }
        KeyRoles.activate(next, for: [app], cause: .takeover, keys: keys, at: now, in: &states)
        put(next, in: app, insteadOf: refused)
        return "\(next) takes over from \(refused) for \(app)"
    }

    private mutating func loseOrFindMasterKey() -> String {
        let isLost = keys.contains { $0.source == .imported && $0.problem == nil } && Bool.random(using: &random)
        for index in keys.indices where keys[index].source == .imported {
            keys[index].problem = isLost ? "it does not open" : nil
        }
        chooseFromDirectories()
        return isLost ? "a restart without the master key" : "a restart with it"
    }

    /// A start finds what the one before has left.
    private mutating func restart() -> String {
        chooseFromDirectories()
        return "a restart"
    }

    /// Adds, removes or changes a key of a source.
    private mutating func change(_ source: KeyFacts.Source, _ tell: (String) -> String) -> String {
        var told = "nothing"
        let present = keys.filter { $0.source == source }.randomElement(using: &random)
        if let present, Bool.random(using: &random) {
            keys.removeAll { $0.keyID == present.keyID }
            told = "\(present.keyID) is gone"
        }
        if let keyID = free(source), Bool.random(using: &random) || told == "nothing" {
            add(declare(keyID, source))
            told += ", \(keyID) is new"
        }
        chooseFromDirectories()
        return tell(told)
    }

    /// A key of the configuration in some state; an app has one active key there at most.
    private mutating func declare(_ keyID: String, _ source: KeyFacts.Source) -> KeyFacts {
        let states: [KeyStatus.State] = [.active, .active, .standby, .standby, .retired, .revoked]
        let state = source == .file ? states.randomElement(using: &random) : nil
        let apps = someApps().filter { state != .active || declared($0) == nil }
        return KeyFacts(keyID: keyID, issuerID: "issuer", apps: apps, source: source, declaredState: state)
    }

    private mutating func chooseFromDirectories() {
        KeyRoles.chooseFromDirectories(keys: keys, at: now, in: &states)
        let fromDirectories = Set(keys.filter { $0.source == .directory }.map(\.keyID))
        for app in Self.apps where active(app) == nil {
            guard let first = standbys(app).first(where: fromDirectories.contains) else { continue }
            put(first, in: app, insteadOf: nil)
        }
    }

    private mutating func add(_ key: KeyFacts) {
        let order: [KeyFacts.Source] = [.file, .directory, .imported]
        let place = keys.firstIndex {
            (order.firstIndex(of: $0.source) ?? 0, $0.keyID) > (order.firstIndex(of: key.source) ?? 0, key.keyID)
        }
        keys.insert(key, at: place ?? keys.endIndex)
        if states.histories[key.keyID] == nil {
            states.histories[key.keyID] = KeyHistory(keyID: key.keyID, firstSeenAt: now)
        }
    }

    private mutating func free(_ source: KeyFacts.Source) -> String? {
        Self.ids[source]?.filter { id in !keys.contains { $0.keyID == id } }.randomElement(using: &random)
    }

    private mutating func someApps() -> [String] {
        let some = Self.apps.filter { _ in Bool.random(using: &random) }
        return some.isEmpty ? ["coins"] : some
    }

    /// A key that operators may take out of use here.
    private mutating func undeclared() -> KeyFacts? {
        keys.filter { !$0.source.isConfigured && !revoked.contains($0.keyID) }.randomElement(using: &random)
    }

    // MARK: The model

    private mutating func put(_ keyID: String, in app: String, insteadOf old: String?) {
        decisions[app] = declared(app) == keyID ? nil : Decision(keyID: keyID, declaredKeyID: declared(app))
        replaced[app, default: [:]].removeValue(forKey: keyID)
        if let old, old != keyID { replaced[app, default: [:]].updateValue(declared(app), forKey: old) }
    }

    private func key(_ keyID: String) -> KeyFacts? { keys.first { $0.keyID == keyID } }

    private func declared(_ app: String) -> String? {
        keys.first { $0.declaredState == .active && $0.apps.contains(app) }?.keyID
    }

    private func canSign(_ key: KeyFacts) -> Bool {
        guard key.problem == nil, !revoked.contains(key.keyID) else { return false }
        switch key.declaredState {
        case .active, .standby: return true
        case .retired, .revoked: return false
        case nil: return !retired.contains(key.keyID)
        }
    }

    /// Who must sign for an app.
    private func active(_ app: String) -> String? {
        let declared = declared(app)
        if let decision = decisions[app], isInForce(decision, app) {
            if revoked.contains(decision.keyID) { return nil }
            if let key = key(decision.keyID), key.apps.contains(app), key.declaredState != .retired,
                key.declaredState != .revoked
            {
                return canSign(key) ? key.keyID : nil
            }
        }
        return declared.flatMap { key($0) }.flatMap { canSign($0) ? $0.keyID : nil }
    }

    /// Whether the configuration has not spoken since.
    private func isInForce(_ decision: Decision, _ app: String) -> Bool {
        declared(app).map { $0 == decision.declaredKeyID } ?? true
    }

    private func standbys(_ app: String) -> [String] {
        let active = active(app)
        return keys.filter { key in
            canSign(key) && key.declaredState != .active && key.apps.contains(app) && key.keyID != active
                && !isReplaced(key, app)
        }.map(\.keyID)
    }

    private func isReplaced(_ key: KeyFacts, _ app: String) -> Bool {
        guard let then = replaced[app]?[key.keyID] else { return false }
        guard key.source.isConfigured else { return true }
        guard let declared = declared(app) else { return then != key.keyID }
        return declared == then
    }

    // MARK: Faults

    private func faultsOfModel(_ found: KeyAssignments) -> [String] {
        Self.apps.flatMap { app in
            let (active, standbys) = (active(app), standbys(app))
            return [
                found.activeKeyIDs[app] == active
                    ? nil : "\(found.activeKeyIDs[app] ?? "none") signs for \(app), not \(active ?? "none")",
                found.standbyKeyIDs[app] ?? [] == standbys
                    ? nil : "\(found.standbyKeyIDs[app] ?? []) stand by for \(app), not \(standbys)",
            ].compactMap(\.self)
        }
    }

    /// What holds at every moment, whatever the model says.
    private func faultsOfState(_ found: KeyAssignments) -> [String] {
        var faults: [String] = []
        for (app, keyIDs) in found.standbyKeyIDs.merging(found.activeKeyIDs.mapValues { [$0] }, uniquingKeysWith: +) {
            for keyID in keyIDs {
                guard let key = key(keyID) else {
                    faults.append("\(keyID) is there for \(app), and is gone")
                    continue
                }
                if !key.apps.contains(app) { faults.append("\(keyID) is there for \(app), which is not its app") }
                if found.states[keyID] == .revoked || revoked.contains(keyID) || key.problem != nil {
                    faults.append("\(keyID) is there for \(app), and must not sign")
                }
            }
        }
        let active = states.roles.filter { $0.kind == .active }
        if Set(active.map(\.app)).count < active.count { faults.append("an app has two active roles") }
        if Set(states.roles.map { [$0.app, $0.keyID] }).count < states.roles.count {
            faults.append("a key has two roles for an app")
        }
        return faults
    }

    /// A key that signed, and still could, goes on, unless somebody has said otherwise.
    private func losses(
        _ act: String, _ keysBefore: [KeyFacts], _ before: KeyAssignments, _ after: KeyAssignments
    ) -> [String] {
        func declared(_ app: String, _ keys: [KeyFacts]) -> String? {
            keys.first { $0.declaredState == .active && $0.apps.contains(app) }?.keyID
        }
        return Self.apps.compactMap { app in
            guard let keyID = before.activeKeyIDs[app], after.activeKeyIDs[app] != keyID, let key = key(keyID),
                canSign(key), key.apps.contains(app)
            else { return nil }
            let isOrdered = act.hasPrefix("activate ") || act.contains(" takes over ")
            let word = declared(app, keys)
            if isOrdered || (word != nil && word != declared(app, keysBefore)) { return nil }
            // What the configuration says of the key itself has changed.
            if keysBefore.first(where: { $0.keyID == keyID }) != key { return nil }
            // A key that was decided upon is back, or for this app again.
            if let successor = after.activeKeyIDs[app], successor == decisions[app]?.keyID,
                self.key(successor) != keysBefore.first(where: { $0.keyID == successor })
            {
                return nil
            }
            return "\(keyID) could go on signing for \(app), and \(after.activeKeyIDs[app] ?? "nobody") does"
        }
    }
}
