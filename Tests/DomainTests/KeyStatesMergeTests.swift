import Domain
import Foundation
import Testing

/// What two copies of the daemon decide about keys becomes one.
struct KeyStatesMergeTests {
    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    private static func role(_ app: String, _ keyID: String, _ since: Double) -> KeyRole {
        KeyRole(app: app, keyID: keyID, kind: .active, cause: .operator, declaredKeyID: nil, since: date(since))
    }

    private static func states(_ roles: KeyRole..., histories: KeyHistory...) -> KeyStates {
        KeyStates(roles: Set(roles), histories: Dictionary(uniqueKeysWithValues: histories.map { ($0.keyID, $0) }))
    }

    @Test func `what one has changed counts, and of what both have the later`() {
        let base = Self.states(Self.role("coins", "A", 1), Self.role("gems", "A", 1))
        let mine = Self.states(Self.role("coins", "B", 5), Self.role("gems", "A", 1))
        let theirs = Self.states(Self.role("coins", "A", 1), Self.role("gems", "C", 4))
        let both = Self.states(Self.role("coins", "B", 5), Self.role("gems", "C", 4))
        #expect(mine.merged(with: theirs, since: base) == both)
        #expect(theirs.merged(with: mine, since: base) == both)
        let later = Self.states(Self.role("coins", "C", 6), Self.role("gems", "A", 1))
        #expect(mine.merged(with: later, since: base) == later)
        #expect(later.merged(with: mine, since: base) == later)
        // A role that was taken away stays away.
        let none = Self.states(Self.role("gems", "A", 1))
        #expect(none.merged(with: base, since: base) == none && base.merged(with: none, since: base) == none)
    }

    @Test func `a revocation and the last use survive, and a deleted key does not come back`() {
        let base = Self.states(histories: KeyHistory(keyID: "A", firstSeenAt: Self.date(1), lastUsedAt: Self.date(60)))
        let revoked = Self.states(
            histories: KeyHistory(
                keyID: "A", firstSeenAt: Self.date(1), lastUsedAt: Self.date(60), revokedAt: Self.date(100)))
        let used = Self.states(
            histories: KeyHistory(keyID: "A", firstSeenAt: Self.date(1), lastUsedAt: Self.date(120)),
            KeyHistory(keyID: "B", firstSeenAt: Self.date(2)))
        let expected = Self.states(
            histories: KeyHistory(
                keyID: "A", firstSeenAt: Self.date(1), lastUsedAt: Self.date(120), revokedAt: Self.date(100)),
            KeyHistory(keyID: "B", firstSeenAt: Self.date(2)))
        #expect(revoked.merged(with: used, since: base) == expected)
        #expect(used.merged(with: revoked, since: base) == expected)
        let deleted = Self.states()
        #expect(deleted.merged(with: base, since: base) == deleted)
        #expect(base.merged(with: deleted, since: base) == deleted)
    }
}
