import Domain
import Foundation
import Testing

/// Which key signs for which app: the rule, apart from any key.
struct KeyAssignmentsTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func key(
        _ id: String, _ source: KeyFacts.Source = .imported, _ declared: KeyStatus.State? = nil,
        apps: [String] = ["coins"], problem: String? = nil
    ) -> KeyFacts {
        KeyFacts(
            keyID: id, issuerID: "issuer", apps: apps, source: source, declaredState: declared, problem: problem)
    }

    private func decided(_ keys: [KeyFacts], _ change: (inout KeyStates) -> Void = { _ in }) -> KeyStates {
        var states = KeyStates()
        for key in keys { states.histories[key.keyID] = KeyHistory(keyID: key.keyID, firstSeenAt: now) }
        change(&states)
        return states
    }

    private func activate(
        _ id: String, _ keys: [KeyFacts], _ states: inout KeyStates, cause: KeyRole.Cause = .operator
    ) {
        KeyRoles.activate(id, for: ["coins"], cause: cause, keys: keys, at: now, in: &states)
    }

    @Test func `without decisions the configuration's active key signs, and all others stand by`() {
        let keys = [
            key("A", .file, .active), key("B", .file, .standby), key("C", .directory), key("D"),
            key("E", .file, .retired), key("F", .credential, .revoked), key("G", problem: "closed"),
        ]
        let result = KeyAssignments(keys, decided(keys))
        #expect(result.activeKeyIDs == ["coins": "A"])
        #expect(result.standbyKeyIDs == ["coins": ["B", "C", "D"]], "in the order of preference")
        #expect(result.states["E"] == .retired && result.states["F"] == .revoked && result.states["G"] == .standby)
        #expect(result.activeRoles.isEmpty)
    }

    @Test func `what was decided stands until the configuration declares another key`() {
        let keys = [key("A", .file, .active), key("B", .file, .standby), key("D")]
        let states = decided(keys) { activate("D", keys, &$0) }
        #expect(KeyAssignments(keys, states).activeKeyIDs == ["coins": "D"])
        #expect(KeyAssignments(keys, states).states == ["A": .retired, "B": .standby, "D": .active])
        let redeclared = [key("A", .file, .standby), key("B", .file, .active), key("D")]
        let after = KeyAssignments(redeclared, states)
        #expect(after.activeKeyIDs == ["coins": "B"])
        #expect(after.states == ["A": .standby, "B": .active, "D": .standby])
        #expect(KeyAssignments(keys, states).activeKeyIDs == ["coins": "D"], "and back again")
    }

    @Test func `an imported key that was replaced stays retired, whatever the configuration declares`() {
        let keys = [key("D"), key("E")]
        let states = decided(keys) { states in
            activate("D", keys, &states)
            activate("E", keys, &states)
        }
        let declared = [key("A", .file, .active)] + keys
        #expect(KeyAssignments(declared, states).states == ["A": .active, "D": .retired, "E": .standby])
    }

    @Test func `activating what the configuration declares takes the decision back`() {
        let keys = [key("A", .file, .active), key("D")]
        let states = decided(keys) { states in
            activate("D", keys, &states)
            activate("A", keys, &states)
        }
        let result = KeyAssignments(keys, states)
        #expect(result.activeKeyIDs == ["coins": "A"] && result.activeRoles.isEmpty)
        #expect(result.states["D"] == .retired)
    }

    @Test func `a decided key that cannot sign leaves its app without one, not with the one it replaced`() {
        let keys = [key("A", .file, .active), key("D")]
        let states = decided(keys) { activate("D", keys, &$0) }
        let closed = [key("A", .file, .active), key("D", problem: "closed")]
        #expect(KeyAssignments(closed, states).activeKeyIDs.isEmpty)
        let gone = [key("A", .file, .active)]
        #expect(KeyAssignments(gone, states).activeKeyIDs == ["coins": "A"], "a key that is not there decides nothing")
    }

    @Test func `an app has one role for each key, and one active key, whatever is done in whatever order`() {
        let keys = [key("A", .file, .active), key("B", .file, .standby), key("C", .directory), key("D"), key("E")]
        var states = decided(keys)
        for id in ["B", "C", "B", "D", "A", "E", "D", "D", "A", "C"] {
            activate(id, keys, &states)
            #expect(KeyAssignments(keys, states).activeKeyIDs == ["coins": id])
            #expect(states.roles.count { $0.kind == .active } <= 1)
            #expect(Set(states.roles.map(\.keyID)).count == states.roles.count)
        }
    }

    @Test func `a key that the configuration does not declare any more takes nothing of what was decided with it`() {
        let keys = [key("A", .file, .active), key("B", .file, .standby), key("D")]
        let states = decided(keys) { activate("D", keys, &$0) }
        let removed = [key("B", .file, .standby), key("D")]
        #expect(KeyAssignments(removed, states).activeKeyIDs == ["coins": "D"])
        #expect(KeyAssignments(removed, states).standbyKeyIDs == ["coins": ["B"]])
        #expect(KeyAssignments(keys, states).activeKeyIDs == ["coins": "D"], "and when it comes back")
        let other = [key("B", .file, .active), key("D")]
        #expect(KeyAssignments(other, states).activeKeyIDs == ["coins": "B"], "another one is another word")
    }

    @Test(arguments: [KeyStatus.State.standby, .retired, .revoked])
    func `a replaced key that is declared otherwise from then on is what it is declared`(state: KeyStatus.State) {
        let keys = [key("A", .file, .active), key("B", .file, .standby)]
        let states = decided(keys) { activate("B", keys, &$0, cause: .takeover) }
        let after = KeyAssignments([key("A", .file, state), key("B", .file, .standby)], states)
        #expect(after.activeKeyIDs == ["coins": "B"])
        #expect(after.states == ["A": state, "B": .active])
    }

    @Test func `a standby key of the configuration that was replaced stays so when the active one is removed`() {
        let keys = [key("A", .file, .active), key("B", .file, .standby), key("C", .file, .standby)]
        let states = decided(keys) { states in
            activate("B", keys, &states, cause: .takeover)
            activate("C", keys, &states, cause: .takeover)
        }
        let after = KeyAssignments([key("B", .file, .standby), key("C", .file, .standby)], states)
        #expect(after.activeKeyIDs == ["coins": "C"] && after.standbyKeyIDs.isEmpty, "Apple has refused B")
    }

    @Test func `what was revoked does not sign, whatever declares it afterwards; what was retired does`() {
        let states = decided([key("A"), key("B")]) { states in
            states.histories["A"]?.revokedAt = now
            states.histories["B"]?.retiredAt = now
        }
        let revoked = KeyAssignments([key("A", .file, .active)], states)
        #expect(revoked.activeKeyIDs.isEmpty && revoked.states == ["A": .revoked])
        let retired = KeyAssignments([key("B", .file, .standby)], states)
        #expect(retired.standbyKeyIDs == ["coins": ["B"]] && retired.states == ["B": .standby])
    }

    @Test func `the first standby follows a revoked key; an app without one is left without`() {
        let keys = [key("D"), key("E", apps: ["coins", "gems"])]
        var states = decided(keys) { activate("D", keys, &$0) }
        #expect(KeyRoles.revoke("D", keys: keys, at: now, in: &states) == ["coins"])
        #expect(KeyAssignments(keys, states).activeKeyIDs == ["coins": "E"])
        #expect(KeyRoles.revoke("E", keys: keys, at: now, in: &states) == ["coins"])
        #expect(KeyAssignments(keys, states).activeKeyIDs.isEmpty)
    }

    @Test func `that a revoked key's file goes, too, gives nobody its place`() {
        let keys = [key("A", .file, .active), key("D", .directory)]
        var states = decided(keys) { activate("D", keys, &$0) }
        _ = KeyRoles.revoke("D", keys: keys, at: now, in: &states)
        for present in [keys, [keys[0]], keys] {
            #expect(KeyAssignments(present, states).activeKeyIDs.isEmpty, "A was replaced, and perhaps for a reason")
        }
        let other = [key("B", .file, .active)]
        #expect(KeyAssignments(other, states).activeKeyIDs == ["coins": "B"], "the configuration has the last word")
    }

    @Test func `a revocation takes no app's key away for which the revoked one did not sign`() {
        let keys = [
            key("A", .file, .active, apps: ["coins", "gems"]), key("D", .directory, apps: ["coins", "gems"]),
        ]
        var states = decided(keys)
        KeyRoles.activate("D", for: ["coins", "gems"], cause: .operator, keys: keys, at: now, in: &states)
        // The directory is for one app only from now on.
        let fewer = [keys[0], key("D", .directory)]
        #expect(KeyAssignments(fewer, states).activeKeyIDs == ["coins": "D", "gems": "A"])
        #expect(KeyRoles.revoke("D", keys: fewer, at: now, in: &states) == ["coins"])
        #expect(KeyAssignments(fewer, states).activeKeyIDs == ["gems": "A"])
    }

    @Test func `a key that signs is not retired, whenever it has begun to`() {
        let keys = [key("A", .file, .active), key("D")]
        var states = decided(keys)
        activate("D", keys, &states, cause: .takeover)
        let before = states
        #expect(KeyRoles.retire("D", keys: keys, at: now, in: &states) == ["coins"])
        #expect(states == before)
        activate("A", keys, &states)
        #expect(KeyRoles.retire("D", keys: keys, at: now, in: &states).isEmpty)
        #expect(states.histories["D"]?.retiredAt == now)
    }

    @Test func `forgetting a key that was decided upon may give its app back to the configuration, and is told before`()
    {
        let keys = [key("A", .file, .active), key("D"), key("E", apps: ["gems"])]
        var states = decided(keys) { activate("D", keys, &$0) }
        #expect(KeyRoles.changes(byForgetting: "D", keys: keys, states) == ["coins": "A"])
        _ = KeyRoles.revoke("D", keys: keys, at: now, in: &states)
        #expect(KeyAssignments(keys, states).activeKeyIDs.isEmpty)
        #expect(KeyRoles.changes(byForgetting: "D", keys: keys, states) == ["coins": "A"])
        #expect(KeyRoles.changes(byForgetting: "E", keys: keys, states).isEmpty)
        activate("A", keys, &states)
        #expect(KeyRoles.changes(byForgetting: "D", keys: keys, states).isEmpty)
    }

    @Test func `an app has a standby key only if that could take over for this app`() {
        let keys = [
            key("A", .file, .active, apps: ["coins", "gems"]), key("B", .file, .standby, apps: ["coins", "gems"]),
        ]
        var states = decided(keys)
        #expect(KeyAssignments(keys, states).appsWithoutStandby.isEmpty)
        activate("B", keys, &states)
        // B stands by for gems still; A, which it has replaced, for nobody.
        #expect(KeyAssignments(keys, states).states == ["A": .active, "B": .active])
        #expect(KeyAssignments(keys, states).appsWithoutStandby == ["coins"])
    }

    @Test func `a directory gives a key to an app that has none, and to no other`() {
        let keys = [key("C", .directory, apps: ["coins", "gems"]), key("D", apps: ["coins"])]
        var states = decided(keys) { activate("D", keys, &$0) }
        KeyRoles.chooseFromDirectories(keys: keys, at: now, in: &states)
        #expect(KeyAssignments(keys, states).activeKeyIDs == ["coins": "D", "gems": "C"])
        #expect(KeyAssignments(keys, states).states["C"] == .active)
        #expect(KeyAssignments(keys, states).standbyKeyIDs["coins"] == ["C"])
    }
}
