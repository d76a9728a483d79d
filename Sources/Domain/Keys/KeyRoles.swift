package import Foundation

/// What an act of an operator, a refusal of Apple's, or a key that goes does to the roles of keys.
///
/// Each is one pass through the keys and roles, however many apps it is about: there may be thousands.
package enum KeyRoles {
    /// The key that the configuration declares active, by app.
    static func declaredKeyIDs(_ keys: [KeyFacts]) -> [String: String] {
        let declared = keys.filter { $0.declaredState == .active }.flatMap { key in key.apps.map { ($0, key.keyID) } }
        return Dictionary(declared) { first, _ in first }
    }

    /// The roles that the configuration has not overtaken; those of keys that are gone stand, in case they come back.
    ///
    /// The configuration overtakes them by declaring another active key; when it declares none any more, what was decided goes
    /// on. That another key was put in the place of one that the configuration does not declare is for it to forget never.
    package static func standing(_ roles: Set<KeyRole>, keys: [KeyFacts]) -> [KeyRole] {
        let declared = declaredKeyIDs(keys)
        let configured = Set(keys.filter(\.source.isConfigured).map(\.keyID))
        return roles.filter { role in
            if role.kind == .retired && !configured.contains(role.keyID) { return true }
            guard let keyID = declared[role.app] else {
                // A key that was declared active when it was replaced, and is declared otherwise now, is what it is declared.
                return role.kind == .active || role.keyID != role.declaredKeyID
            }
            return role.declaredKeyID == keyID
        }.sorted { ($0.since, $0.app, $0.keyID) < ($1.since, $1.app, $1.keyID) }
    }

    /// Makes a key the active one of apps; those that were are retired there.
    package static func activate(
        _ keyID: String, for apps: [String], cause: KeyRole.Cause, keys: [KeyFacts], at now: Date,
        in states: inout KeyStates
    ) {
        let successors = Dictionary(apps.map { ($0, keyID) }) { first, _ in first }
        put(successors, before: KeyAssignments(keys, states), cause: cause, keys: keys, at: now, in: &states)
        states.histories[keyID]?.retiredAt = nil
    }

    /// Takes a key out of standby for all of its apps.
    ///
    /// - Returns: the apps that it signs for; unless there are none, nothing has changed.
    package static func retire(
        _ keyID: String, keys: [KeyFacts], at now: Date, in states: inout KeyStates
    ) -> [String] {
        let apps = KeyAssignments(keys, states).apps(of: keyID)
        if apps.isEmpty { states.histories[keyID, default: KeyHistory(keyID: keyID, firstSeenAt: now)].retiredAt = now }
        return apps
    }

    /// Takes a key out of use for good; the first standby key takes its place, app by app, where there is one.
    ///
    /// - Returns: the apps that it has signed for.
    package static func revoke(
        _ keyID: String, keys: [KeyFacts], at now: Date, in states: inout KeyStates
    ) -> [String] {
        let before = KeyAssignments(keys, states)
        let apps = before.apps(of: keyID)
        // What was decided about it and is not in force will never be again.
        states.roles = states.roles.filter { role in
            role.keyID != keyID || role.kind == .retired || before.decidedKeyIDs[role.app] == keyID
        }
        states.histories[keyID, default: KeyHistory(keyID: keyID, firstSeenAt: now)].revokedAt = now
        let after = KeyAssignments(keys, states)
        var successors: [String: String] = [:]
        for app in apps where after.activeKeyIDs[app] == nil { successors[app] = after.standbyKeyIDs[app]?.first }
        put(successors, before: after, cause: .operator, keys: keys, at: now, in: &states)
        return apps
    }

    /// Forgets all that was decided about a key, which is deleted.
    package static func forget(_ keyID: String, in states: inout KeyStates) {
        states.roles = states.roles.filter { $0.keyID != keyID }
        states.histories[keyID] = nil
    }

    /// Who would sign if a key were forgotten, for the apps for which that is another than now: the key that is to be
    /// forgotten signs for them, or was decided upon and does not, and the configuration's word would be in force again.
    package static func changes(
        byForgetting keyID: String, keys: [KeyFacts], _ states: KeyStates
    ) -> [String: String?] {
        var rest = states
        forget(keyID, in: &rest)
        let before = KeyAssignments(keys, states).activeKeyIDs
        let after = KeyAssignments(keys.filter { $0.keyID != keyID }, rest).activeKeyIDs
        var changes: [String: String?] = [:]
        for app in Set(before.keys).union(after.keys) where before[app] != after[app] {
            changes.updateValue(after[app], forKey: app)
        }
        return changes
    }

    /// Gives each app without an active key the first key of a directory that stands by for it.
    package static func chooseFromDirectories(keys: [KeyFacts], at now: Date, in states: inout KeyStates) {
        let fromDirectories = Set(keys.filter { $0.source == .directory }.map(\.keyID))
        let assignments = KeyAssignments(keys, states)
        var chosen: [String: String] = [:]
        for (app, standbys) in assignments.standbyKeyIDs where assignments.activeKeyIDs[app] == nil {
            chosen[app] = standbys.first(where: fromDirectories.contains)
        }
        put(chosen, before: assignments, cause: .directory, keys: keys, at: now, in: &states)
    }

    /// Makes keys the active ones of apps.
    ///
    /// `successors`: key ids by app. `before`: how it was until now.
    private static func put(
        _ successors: [String: String], before: KeyAssignments, cause: KeyRole.Cause, keys: [KeyFacts], at now: Date,
        in states: inout KeyStates
    ) {
        guard !successors.isEmpty else { return }
        let declared = declaredKeyIDs(keys)
        states.roles = states.roles.filter { role in
            guard let keyID = successors[role.app] else { return true }
            return role.kind == .retired && role.keyID != keyID && role.keyID != before.activeKeyIDs[role.app]
        }
        for (app, keyID) in successors {
            let old = before.activeKeyIDs[app]
            if let old, old != keyID {
                states.roles.insert(
                    KeyRole(
                        app: app, keyID: old, kind: .retired, cause: cause, declaredKeyID: declared[app], since: now))
            }
            // What the configuration says by itself needs no role.
            guard declared[app] != keyID else { continue }
            states.roles.insert(
                KeyRole(
                    app: app, keyID: keyID, kind: .active, cause: cause, replacedKeyID: old == keyID ? nil : old,
                    declaredKeyID: declared[app], since: now))
        }
    }
}
