package import Domain
import Foundation
import Testing

/// What every store must do that tells what is kept of purchases.
package struct StoredStateContract: Sendable, CustomTestStringConvertible {
    package typealias Store = Services.Store
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    private static let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

    package static let cases: [StoredStateContract] = [
        StoredStateContract("what nobody has told of is not there") { store in
            #expect(try await store.storedTransaction(app: "coins", id: "1", environment: nil) == nil)
            let found = try await list(store, "alice")
            #expect(found.subscriptions.isEmpty && found.othersOmitted == 0 && !found.isCut)
        },
        StoredStateContract("of a transaction that which Apple signed last counts, in whatever order it came") {
            store in
            try await store.take(
                .sample("n2", type: "REFUND", at: 2, transaction: .sample(id: "1", signed: 7000, revoked: 6000)),
                .sample("n1", at: 1, transaction: .sample(id: "1", signed: 5000)))
            let found = try #require(try await store.storedTransaction(app: "coins", id: "1", environment: nil))
            #expect(found.signedDate == Date(timeIntervalSince1970: 7000) && found.revocationDate != nil)
            #expect(try await store.storedTransaction(app: "coins", id: "1", environment: .production) != nil)
            #expect(try await store.storedTransaction(app: "coins", id: "1", environment: .sandbox) == nil)
            #expect(try await store.storedTransaction(app: "gems", id: "1", environment: nil) == nil)
        },
        StoredStateContract("the status that Apple signed last counts, with the latest period") { store in
            _ = try await store.declare(try .sample(.originalTransactionId, "1", user: "alice"), transfer: false)
            try await store.take(
                .subscription("n3", "REFUND", period: "1", from: 1, status: 1, at: 3),
                .subscription("n2", "DID_RENEW", period: "2", from: 2, status: 1, at: 2),
                .subscription("n1", "SUBSCRIBED", period: "1", from: 1, status: 1, at: 1))
            let renewed = try #require(try await list(store, "alice").subscriptions.first)
            #expect(renewed.entry.subscription.status == .active && renewed.asOf == CaseModel.time(3))
            #expect(renewed.entry.subscription.transaction.transactionID == "2", "a refund tells of an earlier period")
            #expect(renewed.entry.subscriptionGroupIdentifier == "group")
            try await store.take(
                .subscription("n4", "EXPIRED", period: "2", from: 2, status: 2, at: 5),
                .subscription("late", "DID_FAIL_TO_RENEW", period: "2", from: 2, status: 3, at: 4))
            let ended = try await list(store, "alice").subscriptions
            #expect(ended.map(\.entry.subscription.status) == [.expired] && ended.first?.asOf == CaseModel.time(5))
            let renewal = String(decoding: ended.first?.entry.subscription.renewalInfo.payload ?? [], as: UTF8.self)
            #expect(renewal == #"{"of":"n4"}"#)
        },
        StoredStateContract("a user's are found by each kind of link, and told to nobody else") { store in
            for (number, kind) in LinkTarget.Kind.allCases.enumerated() {
                let (id, user) = ("\(number)00", "user-\(number)")
                let value: String =
                    switch kind {
                    case .transactionId: "\(id)2"
                    case .originalTransactionId: id
                    case .appTransactionId: "account-\(number)"
                    case .appAccountToken: token
                    }
                _ = try await store.declare(try .sample(kind, value, user: user), transfer: false)
                try await store.remember(
                    [
                        KnownIdentifier(
                            identifier: id, environment: .production, appTransactionID: "account-\(number)")
                    ], app: "coins")
                try await store.take(
                    .subscription(
                        "n\(number)", "DID_RENEW", original: id, period: "\(id)2", account: "account-\(number)",
                        token: kind == .appAccountToken ? token : nil))
                let found = try await list(store, user)
                #expect(found.subscriptions.map(\.entry.subscription.originalTransactionID) == [id], "\(kind)")
                #expect(found.othersOmitted == 0)
            }
            let sandbox = try await store.storedSubscriptions(
                app: "coins", user: try UserID("user-0"), environment: .sandbox)
            #expect(sandbox.subscriptions.isEmpty && sandbox.othersOmitted == 0)
        },
        StoredStateContract("what has become another user's is counted, and not told") { store in
            _ = try await store.declare(try .sample(.originalTransactionId, "1", user: "alice"), transfer: false)
            try await store.take(.subscription("n1", "SUBSCRIBED", period: "1"))
            #expect(try await list(store, "alice").subscriptions.count == 1)
            _ = try await store.declare(
                try .sample(.originalTransactionId, "1", user: "bob", created: 200), transfer: true)
            let (former, present) = (try await list(store, "alice"), try await list(store, "bob"))
            #expect(former.subscriptions.isEmpty && former.othersOmitted == 1)
            #expect(present.subscriptions.count == 1 && present.othersOmitted == 0)
        },
        StoredStateContract("what tells no status, and what is no subscription, is no state of one") { store in
            _ = try await store.declare(try .sample(.transactionId, "9", user: "alice"), transfer: false)
            _ = try await store.declare(try .sample(.originalTransactionId, "1", user: "alice"), transfer: false)
            try await store.take(
                .sample("n9", type: "ONE_TIME_CHARGE", transaction: .sample(id: "9")),
                .subscription("n1", "SUBSCRIBED", period: "1", status: nil))
            let found = try await list(store, "alice")
            #expect(found.subscriptions.isEmpty && found.othersOmitted == 0)
            try await store.take(.subscription("n2", "DID_RENEW", period: "2", from: 2, status: 1, at: 2))
            #expect(try await list(store, "alice").subscriptions.count == 1)
        },
        StoredStateContract("an erased user's are nobody's") { store in
            let alice = try UserID("alice")
            _ = try await store.declare(try .sample(.originalTransactionId, "1", user: "alice"), transfer: false)
            try await store.take(.subscription("n1", "SUBSCRIBED", period: "1"))
            _ = try await store.eraseUser(app: "coins", user: alice, at: CaseModel.time(9))
            let left = try await list(store, "alice")
            #expect(left.subscriptions.isEmpty && left.othersOmitted == 0)
        },
    ]

    private static func list(_ store: any Store, _ user: String) async throws -> StoredSubscriptions {
        try await store.storedSubscriptions(app: "coins", user: try UserID(user), environment: nil)
    }
}

extension StoredNotification {
    /// A notification about a period of a subscription, with what a test cares about.
    ///
    /// `start`: the hour at which the period begins; `hour`: when Apple signed all of it; as in `CaseModel.time`.
    package static func subscription(
        _ uuid: String, _ type: String, original: String = "1", period: String, account: String? = nil,
        token: String? = nil, from start: Double = 1, status: Int? = 1, at hour: Double = 1
    ) -> StoredNotification {
        let signedAt = CaseModel.time(hour)
        let transaction = Transaction(
            transactionID: period, originalTransactionID: original, webOrderLineItemID: "item-\(period)",
            appTransactionID: account, appAccountToken: token, productID: "gold",
            productType: .autoRenewableSubscription, purchaseDate: CaseModel.time(start),
            expiresDate: CaseModel.time(start + 720), signedDate: signedAt, environment: .production,
            payload: Array(#"{"transactionId":"\#(period)","subscriptionGroupIdentifier":"group"}"#.utf8), signed: "t")
        let data = status.map { #"{"status":\#($0)}"# } ?? "{}"
        return StoredNotification(
            app: "coins",
            notification: AppleNotification(
                notificationUUID: uuid, notificationType: type, subtype: nil, signedDate: signedAt.milliseconds,
                environment: .production, payload: Array(#"{"notificationUUID":"\#(uuid)","data":\#(data)}"#.utf8),
                signed: "n.\(uuid).n", transaction: transaction,
                renewalInfo: VerifiedData(payload: Array(#"{"of":"\#(uuid)"}"#.utf8), signed: "r"),
                appTransaction: nil),
            source: .webhook, receivedAt: signedAt)
    }
}
