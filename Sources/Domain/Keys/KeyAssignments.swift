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
    /// The keys that were decided upon, by app, where the decision stands: they sign, or nobody does.
    package let decidedKeyIDs: [String: String]
    /// The take-overs in force, in the order in which they happened.
    package let takeovers: [KeyRole]
    private let appsByKeyID: [String: [String]]

    /// - Parameters:
    ///   - keys: all that are known, those that come first preferred.
    ///   - decided: what operators, take-overs and directories have decided.
    package init(_ keys: [KeyFacts], _ decided: KeyStates) {
        let keysByID = Dictionary(keys.map { ($0.keyID, $0) }) { first, _ in first }
        let standing = KeyRoles.standing(decided.roles, keys: keys)
        let retired = Set(standing.lazy.filter { $0.kind == .retired }.map { AppKey($0.app, $0.keyID) })
        func canSign(_ key: KeyFacts) -> Bool {
            let history = decided.histories[key.keyID]
            guard key.problem == nil, history?.revokedAt == nil else { return false }
            // What was said of a key before the configuration declared it is overtaken, but for a revocation.
            guard let declared = key.declaredState else { return history?.retiredAt == nil }
            return declared == .active || declared == .standby
        }
        let usable = keys.filter(canSign)
        let usableIDs = Set(usable.map(\.keyID))
        let served = Set(keys.lazy.flatMap { key in key.apps.lazy.map { AppKey($0, key.keyID) } })
        var active = KeyRoles.declaredKeyIDs(usable)
        var roles: [String: KeyRole] = [:]
        var decidedKeyIDs: [String: String] = [:]
        for role in standing where role.kind == .active {
            // That a revoked key is gone gives nobody its place back.
            if decided.histories[role.keyID]?.revokedAt == nil {
                guard served.contains(AppKey(role.app, role.keyID)) else { continue }
                // Out of use by the configuration is its decision, too.
                let declared = keysByID[role.keyID]?.declaredState
                if declared == .retired || declared == .revoked { continue }
            }
            // A decided key that does not open leaves its app without one, rather than with the one that was replaced.
            let isUsable = usableIDs.contains(role.keyID)
            active[role.app] = isUsable ? role.keyID : nil
            decidedKeyIDs[role.app] = role.keyID
            if isUsable { roles[role.app] = role }
        }
        let appsByKeyID = Dictionary(grouping: active.keys) { active[$0] ?? "" }
        var standbys: [String: [String]] = [:]
        for key in usable where key.declaredState != .active {
            for app in key.apps where active[app] != key.keyID && !retired.contains(AppKey(app, key.keyID)) {
                standbys[app, default: []].append(key.keyID)
            }
        }
        activeKeyIDs = active
        standbyKeyIDs = standbys
        activeRoles = roles
        self.decidedKeyIDs = decidedKeyIDs
        takeovers = roles.values.filter { $0.cause == .takeover }.sorted { ($0.since, $0.app) < ($1.since, $1.app) }
        self.appsByKeyID = appsByKeyID
        states = keysByID.mapValues { key in
            let history = decided.histories[key.keyID]
            if key.declaredState == .revoked || history?.revokedAt != nil { return .revoked }
            if appsByKeyID[key.keyID] != nil { return .active }
            let isReplaced = key.apps.allSatisfy { retired.contains(AppKey($0, key.keyID)) }
            let isOverruled = key.declaredState == .active
            let isRetired = key.declaredState.map { $0 == .retired } ?? (history?.retiredAt != nil)
            return isRetired || isReplaced || isOverruled ? .retired : .standby
        }
    }

    /// The apps that a key signs for, in ascending order.
    package func apps(of keyID: String) -> [String] { appsByKeyID[keyID]?.sorted() ?? [] }

    /// The apps that have an active key and nothing that could take its place, in ascending order.
    package var appsWithoutStandby: [String] { activeKeyIDs.keys.filter { standbyKeyIDs[$0] == nil }.sorted() }

    private struct AppKey: Hashable {
        let app: String
        let keyID: String

        init(_ app: String, _ keyID: String) {
            self.app = app
            self.keyID = keyID
        }
    }
}
