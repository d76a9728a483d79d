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
                source: .webhook, receivedAt: CaseDesk.time(1))
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
                position: 1, app: "coins", kind: .notificationReceived, subject: "a", at: CaseDesk.time(2),
                environment: .production, transactionID: "1000", notificationType: "SUBSCRIBED",
                subtype: "RESUBSCRIBE")
            #expect(try await store.events(after: 0, limit: 10) == [event])
        },
        NotificationStoreContract("the quarantine keeps the latest") { store in
            #expect(try await store.quarantineStatus() == (0, nil))
            for number in 1...5 {
                let notification = QuarantinedNotification(
                    app: "coins", notificationUUID: number == 1 ? nil : "\(number)", fault: "Wrong bundle id.",
                    receivedAt: CaseDesk.time(Double(number)), signed: "n.\(number).n")
                try await store.quarantine(notification, keeping: 3)
                #expect(try await store.quarantineStatus() == (min(number, 3), CaseDesk.time(Double(number))))
            }
            #expect(try await store.notifications(app: "coins", NotificationQuery()).isEmpty)
        },
        NotificationStoreContract("progress of the search is kept for each app and environment") { store in
            let search = HistoryProgress.Search(
                pass: .failures, start: CaseDesk.time(1), end: CaseDesk.time(2), paginationToken: "next")
            let progress = HistoryProgress(completeUntil: CaseDesk.time(1), search: search)
            let fresh = HistoryProgress(completeUntil: nil, search: nil)
            #expect(try await store.historyProgress(app: "coins", environment: .sandbox) == nil)
            try await store.saveHistoryProgress(progress, app: "coins", environment: .sandbox)
            try await store.saveHistoryProgress(fresh, app: "gems", environment: .sandbox)
            #expect(try await store.historyProgress(app: "coins", environment: .sandbox) == progress)
            #expect(try await store.historyProgress(app: "coins", environment: .production) == nil)
            #expect(try await store.historyProgress(app: "gems", environment: .sandbox) == fresh)
            try await store.saveHistoryProgress(fresh, app: "coins", environment: .sandbox)
            #expect(try await store.historyProgress(app: "coins", environment: .sandbox) == fresh)
        },
    ]
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
