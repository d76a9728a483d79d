package import Domain
import Foundation
import Testing

/// What every store of notifications must do.
package struct NotificationStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = NotificationStore & CaseStore & EventStore & LinkStore & TransactionMemory
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases = keeping + processing + listing

    private static let keeping: [NotificationStoreContract] = [
        NotificationStoreContract("a notification comes back whole") { store in
            let transaction = Transaction.sample(
                id: "2", original: "1", webOrderLineItem: "3", account: "4",
                token: "3f2504e0-4f89-11d3-9a0c-0305e82c3301", type: .autoRenewableSubscription, revoked: 6000,
                isFamilyShared: true, isAdvancedCommerce: true, environment: .sandbox)
            let plain = StoredNotification.sample("a", transaction: transaction, source: .forwarded).notification
            let whole = StoredNotification(
                app: "coins",
                notification: AppleNotification(
                    notificationUUID: "a", notificationType: "DID_RENEW", subtype: "BILLING_RECOVERY",
                    signedDate: 1_700_000_000_123, environment: .sandbox, payload: plain.payload,
                    signed: plain.signed, transaction: transaction,
                    renewalInfo: VerifiedData(payload: [1, 0, 2], signed: "r.r.r"), appTransaction: nil,
                    consumptionRequestReason: "LEGAL"),
                source: .history, receivedAt: Date(timeIntervalSince1970: 1_700_000_001.5))
            #expect(try await store.record(whole))
            let found = try #require(try await store.notification(app: "coins", uuid: "a"))
            expectSame(found, whole)
            #expect(try await store.notification(app: "gems", uuid: "a") == nil)
            #expect(try await store.notification(app: "coins", uuid: "A") == nil)
        },
        NotificationStoreContract("a notification without a transaction is kept too") { store in
            let plain = StoredNotification.sample("a", type: "TEST", transaction: nil)
            let rescind = StoredNotification(
                app: "coins",
                notification: AppleNotification(
                    notificationUUID: "b", notificationType: "RESCIND_CONSENT", subtype: nil, signedDate: nil,
                    environment: .production, payload: [123, 125], signed: "n.n.n", transaction: nil,
                    renewalInfo: nil, appTransaction: VerifiedData(payload: [1], signed: "t.t.t"),
                    appTransactionID: "704"),
                source: .webhook, receivedAt: CaseModel.time(1))
            for notification in [plain, rescind] {
                #expect(try await store.record(notification))
                let uuid = notification.notification.notificationUUID
                expectSame(try #require(try await store.notification(app: "coins", uuid: uuid)), notification)
                #expect(try await store.take(notification) == [.none])
            }
            #expect(try await store.unprocessedNotifications(limit: 10).isEmpty)
        },
        NotificationStoreContract("a known UUID is kept once for each app, however many bring it at once") { store in
            let news = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        try await store.record(.sample("a", app: number.isMultiple(of: 2) ? "coins" : "gems"))
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(news == 2)
            #expect(try await store.notifications(app: "coins", NotificationQuery()).count == 1)
            #expect(try await store.events(after: 0, limit: 10).map(\.app).sorted() == ["coins", "gems"])
        },
        NotificationStoreContract("what is recorded is told") { store in
            _ = try await store.record(
                .sample("a", type: "SUBSCRIBED", subtype: "RESUBSCRIBE", at: 1, received: 2))
            _ = try await store.record(.sample("a", type: "SUBSCRIBED", subtype: "RESUBSCRIBE", at: 1, received: 3))
            let event = ServiceEvent(
                position: 1, app: "coins", kind: .notificationReceived, subject: "a", at: CaseModel.time(2),
                environment: .production, transactionID: "1000", notificationType: "SUBSCRIBED",
                subtype: "RESUBSCRIBE")
            #expect(try await store.events(after: 0, limit: 10) == [event])
        },
        NotificationStoreContract("progress of the search is kept for each app and environment") { store in
            let search = HistoryProgress.Search(
                pass: .failures, start: CaseModel.time(1), end: CaseModel.time(2), paginationToken: "next")
            let progress = HistoryProgress(
                completeUntil: CaseModel.time(1), unkeptSince: CaseModel.time(0.5), search: search)
            let fresh = HistoryProgress(completeUntil: nil, search: nil)
            #expect(try await store.historyProgress(app: "coins", environment: .sandbox) == nil)
            let isKept = try await store.saveHistoryProgress(
                progress, replacing: nil, app: "coins", environment: .sandbox)
            #expect(isKept)
            #expect(try await store.saveHistoryProgress(fresh, replacing: nil, app: "gems", environment: .sandbox))
            #expect(try await store.historyProgress(app: "coins", environment: .sandbox) == progress)
            #expect(try await store.historyProgress(app: "coins", environment: .production) == nil)
            #expect(try await store.historyProgress(app: "gems", environment: .sandbox) == fresh)
            #expect(try await store.saveHistoryProgress(fresh, replacing: nil, app: "coins", environment: .sandbox))
            #expect(try await store.historyProgress(app: "coins", environment: .sandbox) == fresh)
        },
    ]

    private static let processing: [NotificationStoreContract] = [
        NotificationStoreContract("what is to be processed comes in the order in which it was recorded") { store in
            for uuid in ["c", "a", "b"] { _ = try await store.record(.sample(uuid, transaction: .sample(id: uuid))) }
            let waiting = try await store.unprocessedNotifications(limit: 2)
            #expect(waiting.map(\.notification.notificationUUID) == ["c", "a"])
            try await store.take(.sample("c", transaction: .sample(id: "c")))
            #expect(
                try await store.unprocessedNotifications(limit: 10).map(\.notification.notificationUUID) == ["a", "b"])
            let processed = try #require(try await store.notification(app: "coins", uuid: "c"))
            #expect(processed.processedAt == CaseModel.time(0))
        },
        NotificationStoreContract("the apps that have something to be processed take turns") { store in
            func keys(_ limit: Int, without leftOut: [String] = [], behind app: String = "") async throws -> [String] {
                let leftOut = leftOut.map { NotificationKey(app: String($0.prefix(1)), notificationUUID: $0) }
                return try await store.unprocessedNotifications(
                    limit: limit, leavingOut: Set(leftOut), behind: app
                ).map(\.notification.notificationUUID)
            }
            for uuid in ["a1", "a2", "a3", "a4", "c1", "b1", "a5", "b2"] {
                let transaction = Transaction.sample(id: uuid)
                _ = try await store.record(.sample(uuid, transaction: transaction, app: String(uuid.prefix(1))))
            }
            #expect(try await keys(100) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5"])
            #expect(try await keys(6) == ["a1", "b1", "c1", "a2", "b2", "a3"])
            #expect(try await keys(5) == ["a1", "b1", "c1", "a2", "b2"])
            #expect(try await keys(4) == ["a1", "b1", "c1", "a2"])
            #expect(try await keys(0) == [])
            // More apps than may come at once.
            #expect(try await keys(2) == ["a1", "b1"])
            #expect(try await keys(2, behind: "b") == ["c1", "a1"])
            #expect(try await keys(2, behind: "c") == ["a1", "b1"])
            #expect(try await keys(100, behind: "a") == ["b1", "c1", "a1", "b2", "a2", "a3", "a4", "a5"])
            // What is left out takes nobody's turn.
            #expect(try await keys(3, without: ["a1", "a2", "c1"]) == ["a3", "b1", "a4"])
            #expect(try await keys(100, without: ["a1", "b1", "b2"]) == ["a2", "c1", "a3", "a4", "a5"])
            #expect(try await keys(100, without: ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"]) == [])
            _ = try await store.take(.sample("c1", transaction: .sample(id: "c1"), app: "c"))
            #expect(try await keys(3) == ["a1", "b1", "a2"])
        },
        NotificationStoreContract("processing it again changes nothing, and neither does one that is not there") {
            store in
            let request = StoredNotification.sample("a", received: 1)
            guard case .open(let opened)? = try await store.take(request).first else {
                Issue.record("not opened")
                return
            }
            let events = try await store.events(after: 0, limit: 10)
            #expect(events.map(\.kind) == [.notificationReceived, .caseOpened])
            #expect(try await store.take(request) == [.none])
            let unknown = StoredNotification.sample("unknown", at: 2)
            #expect(
                try await store.process(unknown, newCaseID: "x", at: CaseModel.time(3)) == AppliedNotification())
            #expect(try await store.events(after: 0, limit: 10) == events)
            #expect(try await store.refundCases(app: "coins", CaseQuery()) == [opened])
        },
        NotificationStoreContract("of many that process one at once, one applies it") { store in
            let request = StoredNotification.sample("a")
            _ = try await store.record(request)
            let changes = try await withThrowingTaskGroup(of: CaseRules.Change.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        try await store.process(request, newCaseID: "case-\(number)", at: CaseModel.time(0)).change
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(changes.filter { $0 != .none }.count == 1)
            #expect(try await store.refundCases(app: "coins", CaseQuery()).count == 1)
        },
        NotificationStoreContract("links are learnt before the owner is looked for, and override nothing") { store in
            let declared = try Link.sample(.transactionId, "2", user: "bob")
            _ = try await store.declare(declared, transfer: false)
            let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
            let learnt = try Link.sample(.appAccountToken, token, user: "alice")
            _ = try await store.declare(learnt, transfer: false)
            try await store.take(.sample("a", transaction: .sample(id: "1", account: "704", token: token)))
            // Of the same account, without a token.
            try await store.take(.sample("c", transaction: .sample(id: "3", account: "704")))
            try await store.take(.sample("b", transaction: .sample(id: "2", account: "704")))
            let owners = try await store.refundCases(app: "coins", CaseQuery()).map(\.owner?.value)
            #expect(owners.sorted { $0 ?? "" < $1 ?? "" } == ["alice", "alice", "bob"])
            #expect(try await store.notification(app: "coins", uuid: "a")?.user == learnt.user)
            #expect(try await store.links(app: "coins", targets: [declared.target]) == [declared])
            let proved = try await store.links(app: "coins", targets: [LinkTarget(.appTransactionId, "704")])
            #expect(proved.map(\.source) == [.signedData])
            let opened = try await store.events(app: "coins", after: 0, limit: 10).filter { $0.kind == .caseOpened }
            #expect(opened.map(\.user) == [learnt.user, learnt.user, declared.user])
        },
        NotificationStoreContract("identifiers that belong together are remembered") { store in
            let transaction = Transaction.sample(id: "2", original: "1", account: "704", environment: .sandbox)
            try await store.take(.sample("a", type: "DID_RENEW", transaction: transaction))
            let known = try await store.known(app: "coins", identifiers: ["1", "2", "704"])
            #expect(
                Set(known)
                    == Set(
                        ["1", "2"].map {
                            KnownIdentifier(identifier: $0, environment: .sandbox, appTransactionID: "704")
                        }))
        },
        NotificationStoreContract("other types change no case") { store in
            try await store.take(.sample("a", type: "DID_RENEW"), .sample("b", type: "BRAND_NEW_TYPE", subtype: "X"))
            #expect(try await store.refundCases(app: "coins", CaseQuery()).isEmpty)
            #expect(
                try await store.events(after: 0, limit: 10).map(\.kind)
                    == Array(
                        repeating: .notificationReceived, count: 2))
        },
    ]

    private static let listing: [NotificationStoreContract] = [
        NotificationStoreContract("a list has the latest first, and each filter leaves out the rest") { store in
            let renewal = Transaction.sample(id: "2", original: "1", environment: .sandbox)
            try await store.take(.sample("a", transaction: .sample(id: "1")))
            let learnt = try Link.sample(.transactionId, "2", user: "alice", source: .signedData)
            _ = try await store.learn(learnt)
            try await store.take(
                .sample("b", type: "DID_RENEW", subtype: "BILLING_RECOVERY", at: 1, transaction: renewal))
            try await store.take(.sample("c", type: "TEST", at: 2, transaction: nil))
            _ = try await store.record(.sample("d", at: 3, app: "gems"))
            try await expect(store, ["c", "b", "a"]) { _ in }
            try await expect(store, ["c", "b"]) { $0.limit = 2 }
            try await expect(store, ["b"]) { $0.type = "DID_RENEW" }
            try await expect(store, ["b"]) { $0.subtype = "BILLING_RECOVERY" }
            try await expect(store, []) { ($0.type, $0.subtype) = ("TEST", "BILLING_RECOVERY") }
            try await expect(store, ["b"]) { $0.user = learnt.user }
            try await expect(store, ["b"]) { $0.environment = .sandbox }
            try await expect(store, ["c", "b"]) { $0.since = CaseModel.time(1) }
            try await expect(store, []) { $0.since = CaseModel.time(2.5) }
            try await expect(store, ["b"]) { $0.transactionID = "2" }
            try await expect(store, ["b", "a"]) { $0.transactionID = "1" }
            try await expect(store, ["a"]) { ($0.transactionID, $0.environment) = ("1", .production) }
        },
        NotificationStoreContract("pages hang together while more comes in") { store in
            for number in 0..<25 { _ = try await store.record(.sample("\(number)")) }
            for filter in [nil, "1000"] {
                var query = NotificationQuery(limit: 10)
                query.transactionID = filter
                var found: [String] = []
                while true {
                    let page = try await store.notifications(app: "coins", query)
                    guard let last = page.last else { break }
                    found += page.map(\.notification.notification.notificationUUID)
                    query.before = last.position
                    _ = try await store.record(.sample("later \(found.count) \(filter ?? "-")"))
                }
                #expect(found.filter { !$0.hasPrefix("later") } == (0..<25).reversed().map(String.init))
                #expect(Set(found).count == found.count)
            }
        },
    ]

    private static func expect(
        _ store: any Store, _ uuids: [String], sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout NotificationQuery) -> Void
    ) async throws {
        var query = NotificationQuery()
        change(&query)
        let found = try await store.notifications(app: "coins", query).map(\.notification.notification.notificationUUID)
        #expect(found == uuids, sourceLocation: sourceLocation)
    }
}

/// Compares all that was said.
private func expectSame(
    _ found: StoredNotification, _ kept: StoredNotification, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(parts(found) == parts(kept), sourceLocation: sourceLocation)
}

/// All that a notification says, one part after the other.
private func parts(_ stored: StoredNotification) -> [String] {
    let apple = stored.notification
    var parts = [
        stored.app, stored.source.rawValue, "\(stored.receivedAt)", "\(String(describing: stored.user))",
        "\(String(describing: stored.processedAt))", apple.notificationUUID, apple.notificationType,
        apple.subtype ?? "-", "\(apple.signedDate ?? -1)", apple.environment.rawValue, "\(apple.payload)",
        apple.signed, "\(apple.renewalInfo?.payload ?? [])", apple.renewalInfo?.signed ?? "-",
        "\(apple.appTransaction?.payload ?? [])", apple.appTransaction?.signed ?? "-", apple.appTransactionID ?? "-",
        apple.consumptionRequestReason ?? "-",
    ]
    if let transaction = apple.transaction {
        parts += [
            "\(transaction.facts)", transaction.webOrderLineItemID ?? "-", "\(transaction.signedDate)",
            "\(String(describing: transaction.revocationDate))", "\(transaction.payload)", transaction.signed,
        ]
    }
    return parts
}
