package import Foundation

/// Which key signs for which app, and which could take over: what follows from the keys there are and from what was decided.
///
/// The configuration has the last word: what an operator or a take-over decided about an app stands until the configuration
/// declares another active key for it.
package struct KeyAssignments: Sendable, Equatable {
    /// By app.
    package let activeKeyIDs: [String: String]
    /// By app, in the order in which they would take over.
    package let standbyKeyIDs: [String: [String]]
    /// By key id.
    package let states: [String: KeyStatus.State]
    /// The active roles that stand, by app; an app whose key the configuration alone has chosen has none.
    package let activeRoles: [String: KeyRole]

    /// - Parameters:
    ///   - keys: all that are known, those that come first preferred.
    ///   - decided: what operators, take-overs and directories have decided.
    package init(_ keys: [KeyFacts], _ decided: KeyStates) {
        let keysByID = Dictionary(keys.map { ($0.keyID, $0) }) { first, _ in first }
        let standing = KeyRoles.standing(decided.roles, keys: keys)
        let retired = Set(standing.lazy.filter { $0.kind == .retired }.map { AppKey($0.app, $0.keyID) })
        func canSign(_ key: KeyFacts) -> Bool {
            let history = decided.histories[key.keyID]
            let mayByDeclaration =
                key.declaredState == nil || key.declaredState == .active || key.declaredState == .standby
            return key.problem == nil && mayByDeclaration && history?.revokedAt == nil && history?.retiredAt == nil
        }
        var active = KeyRoles.declaredKeyIDs(keys)
        var roles: [String: KeyRole] = [:]
        for role in standing where role.kind == .active {
            // A decided key that does not open leaves its app without one, rather than with the one that was replaced.
            guard let key = keysByID[role.keyID], key.apps.contains(role.app) else { continue }
            // Out of use by the configuration is its decision, too.
            if key.declaredState == .retired || key.declaredState == .revoked { continue }
            active[role.app] = canSign(key) ? role.keyID : nil
            if canSign(key) { roles[role.app] = role }
        }
        let activeApps = Dictionary(grouping: active.keys) { active[$0] ?? "" }
        var standbys: [String: [String]] = [:]
        for key in keys where canSign(key) && key.declaredState != .active {
            for app in key.apps where active[app] != key.keyID && !retired.contains(AppKey(app, key.keyID)) {
                standbys[app, default: []].append(key.keyID)
            }
        }
        activeKeyIDs = active
        standbyKeyIDs = standbys
        activeRoles = roles
        states = keysByID.mapValues { key in
            let history = decided.histories[key.keyID]
            if key.declaredState == .revoked || history?.revokedAt != nil { return .revoked }
            if activeApps[key.keyID] != nil { return .active }
            let isReplaced = key.apps.allSatisfy { retired.contains(AppKey($0, key.keyID)) }
            let isOverruled = key.declaredState == .active
            return key.declaredState == .retired || history?.retiredAt != nil || isReplaced || isOverruled
                ? .retired : .standby
        }
    }

    /// The apps that a key signs for.
    package func apps(of keyID: String) -> [String] {
        activeKeyIDs.filter { $0.value == keyID }.map(\.key).sorted()
    }

    private struct AppKey: Hashable {
        let app: String
        let keyID: String

        init(_ app: String, _ keyID: String) {
            self.app = app
            self.keyID = keyID
        }
    }
}

/// What an act of an operator, a refusal of Apple's, or a key that goes does to the roles of keys.
package enum KeyRoles {
    /// The key that the configuration declares active, by app.
    static func declaredKeyIDs(_ keys: [KeyFacts]) -> [String: String] {
        let declared = keys.filter { $0.declaredState == .active }.flatMap { key in key.apps.map { ($0, key.keyID) } }
        return Dictionary(declared) { first, _ in first }
    }

    /// The roles that the configuration has not overtaken; those of keys that are gone stand, in case they come back.
    ///
    /// That another key was put in the place of one that the configuration does not declare is for it to forget never.
    package static func standing(_ roles: Set<KeyRole>, keys: [KeyFacts]) -> [KeyRole] {
        let declared = declaredKeyIDs(keys)
        let configured = Set(keys.filter(\.source.isConfigured).map(\.keyID))
        return roles.filter { role in
            let isKept = role.kind == .retired && !configured.contains(role.keyID)
            return isKept || role.declaredKeyID == declared[role.app]
        }.sorted { ($0.since, $0.app, $0.keyID) < ($1.since, $1.app, $1.keyID) }
    }

    /// Makes a key the active one of an app; the one that was is retired there.
    package static func activate(
        _ keyID: String, for app: String, cause: KeyRole.Cause, keys: [KeyFacts], at now: Date,
        in states: inout KeyStates
    ) {
        let declared = declaredKeyIDs(keys)[app]
        let old = KeyAssignments(keys, states).activeKeyIDs[app]
        states.roles = states.roles.filter { role in
            role.app != app || (role.kind == .retired && role.keyID != keyID && role.keyID != old)
        }
        if let old, old != keyID {
            states.roles.insert(
                KeyRole(app: app, keyID: old, kind: .retired, cause: cause, declaredKeyID: declared, since: now))
        }
        // What the configuration says by itself needs no role.
        if declared != keyID {
            states.roles.insert(
                KeyRole(
                    app: app, keyID: keyID, kind: .active, cause: cause, replacedKeyID: old == keyID ? nil : old,
                    declaredKeyID: declared, since: now))
        }
        states.histories[keyID]?.retiredAt = nil
    }

    /// Puts the first standby key in the place of a key that no longer signs, app by app; an app without one is left without.
    ///
    /// `apps`: those for which it was the active one.
    package static func promoteStandbys(
        for apps: [String], cause: KeyRole.Cause, keys: [KeyFacts], at now: Date, in states: inout KeyStates
    ) {
        for app in apps {
            let assignments = KeyAssignments(keys, states)
            guard assignments.activeKeyIDs[app] == nil, let next = assignments.standbyKeyIDs[app]?.first else {
                continue
            }
            activate(next, for: app, cause: cause, keys: keys, at: now, in: &states)
        }
    }

    /// Gives each app without an active key the first key of a directory that stands by for it.
    package static func chooseFromDirectories(keys: [KeyFacts], at now: Date, in states: inout KeyStates) {
        let fromDirectories = Set(keys.filter { $0.source == .directory }.map(\.keyID))
        let assignments = KeyAssignments(keys, states)
        for app in assignments.standbyKeyIDs.keys.sorted() where assignments.activeKeyIDs[app] == nil {
            guard let first = assignments.standbyKeyIDs[app]?.first(where: fromDirectories.contains) else { continue }
            activate(first, for: app, cause: .directory, keys: keys, at: now, in: &states)
        }
    }
}
