package import Domain
import Foundation
import Testing

/// What every store must do with what does not verify.
package struct QuarantineStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = QuarantineStore & NotificationStore & EventStore & StoreMaintenance & ConsentStore
        & LinkStore
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    private static let wide = QuarantineBound(perApp: 100, inAll: 100)
    private static let narrow = QuarantineBound(perApp: 2, inAll: 3)
    private static let shared = QuarantineBound(perApp: 3, inAll: 6, strangersPerApp: 2, strangersInAll: 3)

    package static let cases: [QuarantineStoreContract] = [
        QuarantineStoreContract("one comes back whole") { store async throws in
            #expect(try await store.quarantineStatus() == (0, nil))
            let whole = QuarantinedNotification(
                app: "coins",
                claims: NotificationClaims(
                    notificationUUID: "u", environment: .sandbox, signedAt: CaseModel.time(-1),
                    identifiers: Set(LinkTarget.Kind.allCases.map { LinkTarget($0, "\($0)-1") })),
                namesOurs: true,
                fault: "appAppleId is not the app's", source: .forwarded, receivedAt: CaseModel.time(1),
                lastReceivedAt: CaseModel.time(2), triedAt: CaseModel.time(3), keptUntil: CaseModel.time(4),
                signed: "n.u.n")
            let bare = QuarantinedNotification(
                app: "coins", fault: "", source: .history, receivedAt: CaseModel.time(1), keptUntil: CaseModel.time(4),
                signed: "not a token")
            for notification in [whole, bare] {
                #expect(try await store.quarantine(notification, within: wide) == .new)
            }
            #expect(try await store.all == [whole, bare])
            #expect(try await store.quarantineStatus() == (2, CaseModel.time(2)))
        },
        QuarantineStoreContract("one of each is kept, with its latest fault, time and source") { store async throws in
            let first = QuarantinedNotification.sample("u", at: 1)
            #expect(try await store.quarantine(first, within: wide) == .new)
            #expect(try await store.quarantine(.sample("u", at: 2, source: .history), within: wide) == .known)
            #expect(try await store.quarantine(.sample("u", at: 0, fault: "Else."), within: wide) == .known)
            let kept = try #require(try await store.all.first)
            #expect(kept.receivedAt == first.receivedAt && kept.lastReceivedAt == CaseModel.time(2))
            #expect(kept.source == .history && kept.fault == "Else." && kept.keptUntil == first.keptUntil)
            #expect(try await store.quarantine(.sample("u", app: "gems"), within: wide) == .new)
            // Without a UUID it is the signature that tells them apart.
            let signature = String(repeating: "s", count: 86)
            for (signed, receipt) in [("a.b.", QuarantineReceipt.new), ("a.c.", .known)] {
                let nameless = QuarantinedNotification(
                    app: "coins", fault: "", source: .webhook, receivedAt: CaseModel.time(1),
                    keptUntil: CaseModel.time(2), signed: signed + signature)
                #expect(try await store.quarantine(nameless, within: wide) == receipt)
            }
            #expect(try await store.quarantineStatus().count == 3)
        },
        QuarantineStoreContract("a flood in the name of some apps pushes out nothing of others, nor do replays of one")
        {
            store async throws in
            _ = try await store.quarantine(.sample("c"), within: narrow)
            for (app, number) in [("gems", 1), ("gems", 2), ("gems", 3), ("gold", 1), ("gold", 2), ("gold", 3)] {
                let notification = QuarantinedNotification.sample("\(app)\(number)", app: app)
                #expect(try await store.quarantine(notification, within: narrow) == .new)
            }
            #expect(try await store.uuids == ["c", "gems3", "gold3"])
            for _ in 0..<10 {
                #expect(try await store.quarantine(.sample("gold3", app: "gold"), within: narrow) == .known)
            }
            #expect(try await store.uuids == ["c", "gems3", "gold3"])
        },
        QuarantineStoreContract("of what was sent the oldest go: of the app, then of the app that has most") {
            store async throws in
            for number in 1...4 {
                #expect(try await store.quarantine(.sample("c\(number)", at: Double(number)), within: narrow) == .new)
            }
            #expect(try await store.uuids == ["c3", "c4"])
            for app in ["gems", "gold"] {
                #expect(try await store.quarantine(.sample("g", app: app), within: narrow) == .new)
            }
            #expect(try await store.all.map(\.app) == ["coins", "gems", "gold"])
            #expect(try await store.uuids == ["c4", "g", "g"])
        },
        QuarantineStoreContract("a flood of strangers' notifications neither removes nor keeps out ours") {
            store async throws in
            for app in ["coins", "gems"] {
                for number in 1...20 { _ = try await store.quarantine(.sample("s\(number)", app: app), within: shared) }
            }
            for (app, number) in [("coins", 1), ("coins", 2), ("coins", 3), ("gems", 1), ("gems", 2), ("gems", 3)] {
                let ours = QuarantinedNotification.sample("o\(number)", app: app, namesOurs: true)
                #expect(try await store.quarantine(ours, within: shared) == .new)
            }
            for app in ["coins", "gems", "gold"] {
                for number in 21...40 {
                    _ = try await store.quarantine(.sample("s\(number)", app: app), within: shared)
                }
            }
            let ours = try await store.all.filter(\.namesOurs)
            #expect(
                ours.map { "\($0.app) \($0.claims.notificationUUID ?? "")" } == [
                    "coins o1", "coins o2", "coins o3", "gems o1", "gems o2", "gems o3",
                ])
            // There is no room left: a stranger's is refused, one of ours removes the oldest of ours.
            #expect(try await store.quarantine(.sample("s", app: "gold"), within: shared) == .refused)
            #expect(try await store.quarantine(.sample("o4", namesOurs: true), within: shared) == .new)
            #expect(
                try await store.all.filter { $0.app == "coins" }.map(\.claims.notificationUUID) == ["o2", "o3", "o4"])
        },
        QuarantineStoreContract("strangers' notifications have no more places than their share") { store async throws in
            for number in 1...20 { _ = try await store.quarantine(.sample("c\(number)"), within: shared) }
            #expect(try await store.uuids == ["c19", "c20"])
            for app in ["gems", "gold"] {
                for number in 1...20 {
                    #expect(try await store.quarantine(.sample("\(app)\(number)", app: app), within: shared) == .new)
                }
            }
            // Three in all: the oldest of the app with most of them was removed each time.
            #expect(try await store.uuids == ["c20", "gems20", "gold20"])
        },
        QuarantineStoreContract("a notification counts as ours once our configuration names its bundle id") {
            store async throws in
            for number in 1...2 { _ = try await store.quarantine(.sample("\(number)"), within: shared) }
            let (position, _) = try #require(try await store.quarantined(after: 0, limit: 1).first)
            try await store.quarantineTried([(position, "Still wrong.", true)], at: CaseModel.time(7))
            for number in 3...9 { _ = try await store.quarantine(.sample("\(number)"), within: shared) }
            #expect(try await store.uuids == ["1", "8", "9"])
            // It comes again.
            #expect(try await store.quarantine(.sample("9", namesOurs: true), within: shared) == .known)
            for number in 10...11 { _ = try await store.quarantine(.sample("\(number)"), within: shared) }
            #expect(try await store.uuids == ["1", "9", "11"])
        },
        QuarantineStoreContract("what there is no room for in history is refused, and pushes nobody out") {
            store async throws in
            for number in 1...4 {
                let receipt = try await store.quarantine(.sample("h\(number)", source: .history), within: narrow)
                #expect(receipt == (number <= 2 ? .new : .refused))
            }
            // The two kinds are bounded apart.
            for number in 1...4 {
                #expect(try await store.quarantine(.sample("w\(number)"), within: narrow) == .new)
            }
            #expect(try await store.quarantine(.sample("g", app: "gems", source: .history), within: narrow) == .new)
            #expect(
                try await store.quarantine(.sample("g", app: "gold", source: .history), within: narrow) == .refused)
            #expect(try await store.uuids == ["h1", "h2", "w3", "w4", "g"])
        },
        QuarantineStoreContract("what is known as a notification is not kept") { store async throws in
            _ = try await store.record(.sample("u"))
            #expect(try await store.quarantine(.sample("u", source: .history), within: wide) == .known)
            #expect(try await store.quarantineStatus().count == 0)
            #expect(try await store.quarantine(.sample("u", app: "gems"), within: wide) == .new)
        },
        QuarantineStoreContract("one that verifies becomes a notification, once, and leaves") { store async throws in
            for uuid in ["a", "b"] { _ = try await store.quarantine(.sample(uuid), within: wide) }
            let (position, _) = try #require(try await store.quarantined(after: 0, limit: 1).first)
            let found = StoredNotification.sample("a", source: .history)
            #expect(try await store.release(position, as: found))
            #expect(try await store.uuids == ["b"])
            #expect(try await store.notification(app: "coins", uuid: "a")?.source == .history)
            #expect(try await store.unprocessedNotifications(limit: 10).count == 1)
            #expect(try await store.events(after: 0, limit: 10).map(\.subject) == ["a"])
            // It is not there any more: nothing comes of it.
            #expect(try await store.release(position, as: .sample("c")) == false)
            #expect(try await store.notification(app: "coins", uuid: "c") == nil)
            // It has come by itself meanwhile.
            _ = try await store.record(.sample("b"))
            let (last, _) = try #require(try await store.quarantined(after: position, limit: 1).first)
            #expect(try await store.release(last, as: .sample("b", source: .history)) == false)
            #expect(try await store.quarantineStatus().count == 0)
            #expect(try await store.notification(app: "coins", uuid: "b")?.source == .webhook)
        },
        QuarantineStoreContract("tries are kept, and pages hang together") { store async throws in
            for number in 1...5 { _ = try await store.quarantine(.sample("\(number)"), within: wide) }
            let page = try await store.quarantined(after: 0, limit: 2)
            try await store.quarantineTried(page.map { ($0.position, "Still wrong.", true) }, at: CaseModel.time(7))
            let rest = try await store.quarantined(after: try #require(page.last?.position), limit: 10)
            #expect(rest.map(\.notification.claims.notificationUUID) == ["3", "4", "5"])
            #expect(rest.allSatisfy { $0.notification.triedAt == nil })
            let tried = try await store.all.filter { $0.triedAt == CaseModel.time(7) }
            #expect(tried.map(\.fault) == ["Still wrong.", "Still wrong."])
            #expect(try await store.all.map(\.namesOurs) == [true, true, false, false, false])
        },
        QuarantineStoreContract("each goes at its own end, and when notifications do") { store async throws in
            let policy = RetentionPolicy()
            let days = 24.0
            for (uuid, end) in [("sandbox", 30 * days), ("production", 180 * days), ("later", 400 * days)] {
                _ = try await store.quarantine(.sample(uuid, keptUntil: end), within: wide)
            }
            for (hour, left) in [
                (30 * days, ["sandbox", "production", "later"]), (30.1 * days, ["production", "later"]),
                (180 * days, ["production", "later"]), (180.1 * days, []),
            ] {
                _ = try await store.enforceRetention(policy, at: CaseModel.time(hour), limit: 10)
                #expect(try await store.uuids == left, "\(hour)")
            }
        },
        QuarantineStoreContract("an erasure takes with it what names the user") { store async throws in
            let user = try UserID("3F2504E0-4F89-11D3-9A0C-0305E82C3301")
            _ = try await store.declare(try .sample(.originalTransactionId, "1", user: user.value), transfer: false)
            let identifiers: [(String, LinkTarget)] = [
                ("token", LinkTarget(.appAccountToken, user.value)), ("link", LinkTarget(.originalTransactionId, "1")),
                ("other", LinkTarget(.transactionId, "1")),
            ]
            for (uuid, target) in identifiers {
                for app in ["coins", "gems"] {
                    _ = try await store.quarantine(.sample(uuid, app: app, identifiers: [target]), within: wide)
                }
            }
            _ = try await store.eraseUser(app: "coins", user: user, at: CaseModel.time(2))
            #expect(try await store.all.filter { $0.app == "coins" }.map(\.claims.notificationUUID) == ["other"])
            #expect(try await store.quarantineStatus().count == 4)
        },
    ]
}

extension QuarantineStore {
    fileprivate var all: [QuarantinedNotification] {
        get async throws { try await quarantined(after: 0, limit: 1000).map(\.notification) }
    }

    fileprivate var uuids: [String?] {
        get async throws { try await all.map(\.claims.notificationUUID) }
    }
}

extension QuarantinedNotification {
    /// One with what a test cares about; hours count as in `CaseModel.time`.
    package static func sample(
        _ uuid: String, at hour: Double = 0, app: String = "coins", fault: String = "Wrong bundle id.",
        source: NotificationSource = .webhook, keptUntil end: Double = 180 * 24, identifiers: Set<LinkTarget> = [],
        namesOurs: Bool = false
    ) -> QuarantinedNotification {
        QuarantinedNotification(
            app: app, claims: NotificationClaims(notificationUUID: uuid, identifiers: identifiers),
            namesOurs: namesOurs, fault: fault, source: source, receivedAt: CaseModel.time(hour),
            keptUntil: CaseModel.time(end), signed: "n.\(uuid).n")
    }
}
