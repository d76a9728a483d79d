import Foundation
import Logging
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

@testable import Domain

struct NotificationProcessorTests {
    private static let token = "0a1b2c3d-0000-4000-8000-00000000000a"

    @Test func `what an earlier run left is applied at the start`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            for uuid in ["a", "b"] { _ = try await fixture.store.record(.sample(uuid, type: "DID_RENEW")) }
            try await fixture.during([fixture.processor.run]) {
                for uuid in ["a", "b"] {
                    let stored = try await fixture.applied(uuid)
                    #expect(stored.processedAt == fixture.base.now)
                }
            }
        }
    }

    @Test func `many more than are looked at together are all applied`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            let count = NotificationProcessor.batchSize + 10
            for number in 1...count {
                _ = try await fixture.store.record(.sample("u\(number)", type: "TEST", transaction: nil))
            }
            try await fixture.during([fixture.processor.run]) { try await fixture.applied("u\(count)") }
            #expect(try await fixture.store.unprocessedNotifications(limit: count).isEmpty)
        }
    }

    @Test func `a request opens a case with Apple's reason, a repetition reminds of it, a decision ends it`()
        async throws
    {
        try await NotificationFixture.with { fixture in
            try await fixture.take(.sample("first", reason: "UNINTENDED_PURCHASE"))
            try await fixture.applied("first")
            let opened = try #require(try await fixture.refundCase())
            #expect(opened.state == .open && opened.reason == "UNINTENDED_PURCHASE" && opened.id == "case-1")
            try await fixture.take(.sample("second", at: 1))
            try await fixture.applied("second")
            #expect(try await fixture.refundCase()?.requests.count == 2)
            try await fixture.take(.sample("refund", type: "REFUND", at: 2))
            try await fixture.applied("refund")
            let decided = try #require(try await fixture.refundCase())
            #expect(decided.state == .decided && decided.outcome == .refunded && decided.id == opened.id)
        }
    }

    @Test func `a request and its decision that come together, in the wrong order, end in one case`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            _ = try await fixture.store.record(.sample("refund", type: "REFUND_DECLINED", at: 2))
            _ = try await fixture.store.record(.sample("request"))
            try await fixture.during([fixture.processor.run]) {
                for uuid in ["refund", "request"] { try await fixture.applied(uuid) }
            }
            #expect(try await fixture.refundCase()?.outcome == .refundDeclined)
        }
    }

    // MARK: Links

    @Test func `a signed appAccountToken that is known teaches the identifiers beside it`() async throws {
        try await NotificationFixture.with { fixture in
            let sqlite = fixture.store.store
            _ = try await sqlite.declare(.sample(.appAccountToken, Self.token, user: "alice"), transfer: false)
            let transaction = Transaction.sample(
                id: "2", original: "1", account: "A", token: Self.token.uppercased(), type: .autoRenewableSubscription)
            try await fixture.take(.sample("u", transaction: transaction))
            #expect(try await fixture.applied("u").user == (try UserID("alice")))
            #expect(try await fixture.refundCase(of: "2")?.owner == (try UserID("alice")))
            #expect(
                try await fixture.links(of: "alice") == [
                    "appAccountToken \(Self.token) alice declared", "transactionId 2 alice signedData",
                    "originalTransactionId 1 alice signedData", "appTransactionId A alice signedData",
                ])
        }
    }

    @Test func `a token that is a user's id teaches too, but not a user of whom nothing is known`() async throws {
        try await NotificationFixture.with { fixture in
            try await fixture.take(.sample("unknown", transaction: .sample(id: "1", token: Self.token)))
            try await fixture.applied("unknown")
            #expect(try await fixture.links(of: Self.token).isEmpty)
            _ = try await fixture.store.store.declare(.sample(.transactionId, "9", user: Self.token), transfer: false)
            try await fixture.take(.sample("known", transaction: .sample(id: "2", token: Self.token)))
            try await fixture.applied("known")
            #expect(try await fixture.links(of: Self.token).contains("transactionId 2 \(Self.token) signedData"))
        }
    }

    @Test func `a purchase without a token, and one shared in a family, teach nothing`() async throws {
        try await NotificationFixture.with { fixture in
            _ = try await fixture.store.store.declare(
                .sample(.appAccountToken, Self.token, user: "alice"), transfer: false)
            try await fixture.take(.sample("bare", transaction: .sample(id: "1", account: "A")))
            try await fixture.take(
                .sample(
                    "shared", transaction: .sample(id: "2", account: "B", token: Self.token, isFamilyShared: true)))
            for uuid in ["bare", "shared"] { try await fixture.applied(uuid) }
            #expect(try await fixture.links(of: "alice").count == 1)
        }
    }

    @Test func `declared links stay, and an Apple Account that serves two users is not taken from the first`()
        async throws
    {
        try await NotificationFixture.with { fixture in
            let other = "0a1b2c3d-0000-4000-8000-00000000000b"
            let sqlite = fixture.store.store
            _ = try await sqlite.declare(.sample(.appAccountToken, Self.token, user: "alice"), transfer: false)
            _ = try await sqlite.declare(.sample(.appAccountToken, other, user: "bob"), transfer: false)
            _ = try await sqlite.declare(.sample(.originalTransactionId, "2", user: "carol"), transfer: false)
            try await fixture.take(.sample("a", transaction: .sample(id: "1", account: "A", token: Self.token)))
            try await fixture.applied("a")
            try await fixture.take(.sample("b", transaction: .sample(id: "2", account: "A", token: other)))
            try await fixture.applied("b")
            let links = try await fixture.links(of: "alice", "bob", "carol")
            #expect(links.contains("appTransactionId A alice signedData"))
            #expect(links.contains("originalTransactionId 2 carol declared"))
            #expect(links.contains("transactionId 2 bob signedData"))
            #expect(!links.contains("appTransactionId A bob signedData"))
            #expect(!links.contains("originalTransactionId 2 bob signedData"))
        }
    }

    // MARK: Effects beyond the store

    private func rescission(_ uuid: String, account: String?, app: String = "coins") -> StoredNotification {
        StoredNotification(
            app: app,
            notification: AppleNotification(
                notificationUUID: uuid, notificationType: "RESCIND_CONSENT", subtype: nil,
                signedDate: Int64(CaseModel.time(0).timeIntervalSince1970 * 1000), environment: .production,
                payload: Array("{}".utf8), signed: "n.n.n", transaction: nil, renewalInfo: nil,
                appTransaction: VerifiedData(payload: Array("{}".utf8), signed: "a.a.a"), appTransactionID: account),
            source: .webhook, receivedAt: CaseModel.time(0))
    }

    /// Whether an answer about a purchase of an Apple Account may be sent.
    private func objection(
        _ account: String, in environment: AppStoreEnvironment = .production, _ fixture: NotificationFixture
    ) async throws -> DeliveryFailure? {
        let purchase = Transaction.sample(id: "9", account: account, environment: environment).facts
        return try await fixture.store.store.objection(
            to: ConsentSubject(
                app: "coins", user: nil, transactionID: "9", environment: environment, purchase: purchase))
    }

    @Test func `a rescission stands for its Apple Account, whoever is linked to it, and is in nobody's consent`()
        async throws
    {
        try await NotificationFixture.with { fixture in
            let sqlite = fixture.store.store
            for user in ["alice", "bob", "carol"] { try await fixture.base.record(user, isConsented: true) }
            _ = try await sqlite.declare(
                .sample(.appTransactionId, "A", user: "alice", environment: .production), transfer: false)
            // Bob's purchase was made by the same account, as a notification has told.
            _ = try await sqlite.declare(.sample(.transactionId, "2", user: "bob"), transfer: false)
            try await fixture.take(
                .sample("purchase", type: "ONE_TIME_CHARGE", transaction: .sample(id: "2", account: "A")))
            try await fixture.applied("purchase")
            _ = try await sqlite.declare(.sample(.appTransactionId, "B", user: "carol"), transfer: false)
            try await fixture.take(rescission("rescind", account: "A"))
            try await fixture.take(rescission("unknown", account: "C"))
            try await fixture.applied("rescind")
            try await fixture.applied("unknown")
            let audit = try #require(fixture.base.ports.audit as? RememberedAudit)
            try await Wait.until("both to be recorded") {
                Set(audit.acts(.consentRecorded).compactMap { $0.details["notification"] }) == ["rescind", "unknown"]
            }
            #expect(try await objection("A", fixture) == .objection(.rescinded))
            #expect(try await objection("C", fixture) == .objection(.rescinded))
            #expect(try await objection("B", fixture) == nil)
            #expect(try await objection("A", in: .sandbox, fixture) == nil)
            for user in ["alice", "bob", "carol"] {
                let history = try await sqlite.consentHistory(app: "coins", user: UserID(user))
                #expect(history.map(\.isConsented) == [true])
            }
            let told = try await sqlite.events(app: "coins", after: 0, limit: 100)
                .filter { $0.kind == .guardianConsentRescinded }
            // Those of different accounts come in any order.
            #expect(told.count == 3 && Set(told.map { $0.user?.value ?? "nobody" }) == ["alice", "bob", "nobody"])
        }
    }

    @Test func `only a guardian's later consent lifts a rescission`() async throws {
        try await NotificationFixture.with { fixture in
            let sqlite = fixture.store.store
            _ = try await sqlite.declare(.sample(.appTransactionId, "A", user: "alice"), transfer: false)
            func consent(at hour: Double, isByGuardian: Bool) async throws {
                _ = try await sqlite.recordConsent(
                    ConsentRecord(
                        app: "coins", user: UserID("alice"), isConsented: true, source: "test",
                        at: CaseModel.time(hour), recordedAt: CaseModel.time(hour), recordedBy: "shop",
                        isByGuardian: isByGuardian))
            }
            try await consent(at: -1, isByGuardian: true)
            try await fixture.take(rescission("rescind", account: "A"))
            try await fixture.applied("rescind")
            #expect(try await objection("A", fixture) == .objection(.rescinded))
            try await consent(at: 1, isByGuardian: false)
            #expect(try await objection("A", fixture) == .objection(.rescinded))
            let inForce = try await sqlite.rescissions(app: "coins", user: UserID("alice"))
            #expect(inForce == [GuardianRescission(environment: .production, at: CaseModel.time(0))])
            try await consent(at: 2, isByGuardian: true)
            #expect(try await objection("A", fixture) == nil)
            #expect(try await sqlite.rescissions(app: "coins", user: UserID("alice")).isEmpty)
            // Whatever the order in which it became known: this one was signed before the guardian agreed.
            try await fixture.take(rescission("late", account: "A"))
            try await fixture.applied("late")
            #expect(try await objection("A", fixture) == nil)
        }
    }

    @Test func `a rescission stays to be applied until it is on record`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            fixture.store.fail(.process)
            _ = try await fixture.store.record(rescission("rescind", account: "A"))
            try await fixture.during([fixture.processor.run]) {
                try await fixture.advance(by: .seconds(1))
                try await fixture.base.sleepersHaveArrived(1, within: .seconds(30))
                fixture.store.heal()
                try await fixture.advance(by: .seconds(30))
                try await fixture.applied("rescind")
            }
            #expect(try await objection("A", fixture) == .objection(.rescinded))
        }
    }

    @Test func `a rescinded consent without an Apple Account is told and does not come again`() async throws {
        try await NotificationFixture.with { fixture in
            try await fixture.take(rescission("rescind", account: nil))
            try await fixture.applied("rescind")
            #expect(fixture.log.lines("names no Apple Account").map(\.level) == [.error])
        }
    }

    @Test func `a reversed refund drops the app's cached lists, and no other app's`() async throws {
        try await NotificationFixture.with { fixture in
            let list = UserPurchases(
                transactions: [.sample()], othersOmitted: 0, incompleteReason: nil, gaps: [], readAt: Date())
            try fixture.snapshots.insert(list, id: "one", app: "coins")
            try fixture.snapshots.insert(list, id: "two", app: "gems")
            try await fixture.take(.sample("refund", type: "REFUND"))
            try await fixture.applied("refund")
            #expect(fixture.snapshots.list(id: "one") != nil)
            try await fixture.take(.sample("reversal", type: "REFUND_REVERSED", at: 1))
            try await fixture.applied("reversal")
            try await Wait.until("a cached list to go") { fixture.snapshots.list(id: "one") == nil }
            #expect(fixture.snapshots.list(id: "two") != nil)
        }
    }

    // MARK: Trouble

    @Test func `one that fails for its own sake holds up nobody, and is tried again later and later`() async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            fixture.store.fail(.notification("bad"))
            for uuid in ["bad", "good", "better"] { _ = try await fixture.store.record(.sample(uuid, type: "TEST")) }
            try await fixture.during([fixture.processor.run]) {
                for uuid in ["good", "better"] { try await fixture.applied(uuid) }
                try await fixture.advance(by: .seconds(1))
                try await fixture.take(.sample("later", type: "TEST"))
                try await fixture.applied("later")
                try await fixture.store.hasFailed(2)
                fixture.store.heal()
                try await fixture.advance(by: .seconds(60))
                try await fixture.applied("bad")
            }
            let lines = fixture.log.lines("could not be applied")
            #expect(lines.map { $0.metadata["notification"] } == ["bad"])
            #expect(lines.first?.metadata["cause"] == "disk full")
        }
    }

    @Test(arguments: [FlakyNotificationStore.Fault.read, .process])
    func `an outage of the store is told once, and ends by itself`(fault: FlakyNotificationStore.Fault) async throws {
        try await NotificationFixture.with(isProcessing: false) { fixture in
            fixture.store.fail(fault)
            for uuid in ["a", "b"] { _ = try await fixture.store.record(.sample(uuid, type: "TEST")) }
            try await fixture.during([fixture.processor.run]) {
                for pause in [1, 2, 4, 8, 16, 30, 30] { try await fixture.advance(by: .seconds(pause)) }
                try await fixture.base.sleepersHaveArrived(1, within: .seconds(30))
                fixture.store.heal()
                try await fixture.advance(by: .seconds(30))
                for uuid in ["a", "b"] { try await fixture.applied(uuid) }
                try await Wait.until("the end of the outage to be told") {
                    !fixture.log.lines("can be applied again").isEmpty
                }
            }
            #expect(fixture.log.lines("cannot be applied").map(\.level) == [.error])
            #expect(fixture.log.lines("could not be applied").isEmpty)
            #expect(fixture.log.lines("can be applied again").count == 1)
        }
    }
}
