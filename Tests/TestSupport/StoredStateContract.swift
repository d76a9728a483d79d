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
        StoredStateContract("of a transaction answers count as notifications do: that which Apple signed last") {
            store in
            try await keep(store, answer("1", at: 1))
            func found() async throws -> (asOf: Date, isRevoked: Bool)? {
                try await store.storedTransaction(app: "coins", id: "1", environment: nil)
                    .map { ($0.signedDate, $0.revocationDate != nil) }
            }
            #expect(try #require(try await found()) == (CaseModel.time(1), false))
            try await store.take(
                .sample(
                    "n1", type: "REFUND", at: 3, transaction: .sample(id: "1", signed: seconds(3), revoked: seconds(2)))
            )
            #expect(try #require(try await found()) == (CaseModel.time(3), true))
            try await keep(store, answer("1", at: 2))
            #expect(try #require(try await found()) == (CaseModel.time(3), true), "it was signed before")
            try await keep(store, answer("1", at: 5))
            try await keep(store, answer("1", at: 4))
            #expect(try #require(try await found()) == (CaseModel.time(5), false))
            #expect(try await store.storedTransaction(app: "gems", id: "1", environment: nil) == nil)
            #expect(try await store.storedTransaction(app: "coins", id: "1", environment: .sandbox) == nil)
        },
        StoredStateContract("a status that was answered counts by when Apple signed it, and with the latest period") {
            store in
            _ = try await store.declare(try .sample(.originalTransactionId, "1", user: "alice"), transfer: false)
            try await keep(store, answer("2", of: "1", at: 2, status: .active))
            let answered = try await list(store, "alice").subscriptions
            #expect(answered.map(\.entry.subscription.status) == [.active] && answered.first?.asOf == CaseModel.time(2))
            #expect(answered.first?.entry.subscriptionGroupIdentifier == "group")
            let renewal = String(decoding: answered.first?.entry.subscription.renewalInfo.payload ?? [], as: UTF8.self)
            #expect(renewal == #"{"of":"2"}"#)
            try await keep(store, answer("2", of: "1", at: 3))
            let again = try await list(store, "alice").subscriptions
            #expect(again.first?.asOf == CaseModel.time(2), "of the transaction alone nobody asked for the status")
            #expect(again.first?.entry.subscription.transaction.signedDate == CaseModel.time(3))
            try await store.take(.subscription("n1", "EXPIRED", period: "2", from: 2, status: 2, at: 4))
            let told = try await list(store, "alice").subscriptions
            #expect(told.map(\.entry.subscription.status) == [.expired] && told.first?.asOf == CaseModel.time(4))
            try await keep(store, answer("3", of: "1", at: 5, status: .billingRetry))
            let later = try await list(store, "alice").subscriptions
            #expect(later.map(\.entry.subscription.status) == [.billingRetry])
            #expect(later.first?.entry.subscription.transaction.transactionID == "3")
        },
        StoredStateContract("answers are found by each kind of link, with no notification beside them") { store in
            for (kind, value) in [
                (.transactionId, "12"), (.originalTransactionId, "21"), (.appTransactionId, "account"),
            ] as [(LinkTarget.Kind, String)] {
                _ = try await store.declare(try .sample(kind, value, user: "by \(kind)"), transfer: false)
            }
            for (id, original) in [("12", "11"), ("22", "21"), ("32", "31")] {
                try await keep(store, answer(id, of: original, at: 2, status: .active))
            }
            for (kind, original) in [
                (.transactionId, "11"), (.originalTransactionId, "21"), (.appTransactionId, "31"),
            ] as [(LinkTarget.Kind, String)] {
                let found = try await list(store, "by \(kind)").subscriptions
                #expect(found.map(\.entry.subscription.originalTransactionID) == [original], "\(kind)")
            }
        },
        StoredStateContract("answers about another user's purchases are counted, and not told") { store in
            _ = try await store.declare(try .sample(.originalTransactionId, "1", user: "alice"), transfer: false)
            try await keep(store, answer("1", at: 2, status: .active))
            _ = try await store.declare(
                try .sample(.originalTransactionId, "1", user: "bob", created: 200), transfer: true)
            let (former, present) = (try await list(store, "alice"), try await list(store, "bob"))
            #expect(former.subscriptions.isEmpty && former.othersOmitted == 1)
            #expect(present.subscriptions.count == 1 && present.othersOmitted == 0)
        },
        StoredStateContract("an erasure takes answers away, also those that were noted before it") { store in
            let alice = try UserID("alice")
            _ = try await store.declare(try .sample(.originalTransactionId, "1", user: "alice"), transfer: false)
            try await keep(store, answer("1", at: 2, status: .active))
            try await keep(store, answer("9", at: 2))
            let before = store.erasures
            let report = try await store.eraseUser(app: "coins", user: alice, at: CaseModel.time(3))
            #expect(report.answers == 1)
            #expect(try await store.storedTransaction(app: "coins", id: "1", environment: nil) == nil)
            #expect(try await store.storedTransaction(app: "coins", id: "9", environment: nil) != nil)
            try await store.keep([answer("1", at: 2)], notedAfter: before, at: CaseModel.time(4))
            #expect(try await store.storedTransaction(app: "coins", id: "1", environment: nil) == nil)
            try await keep(store, answer("1", at: 5))
            #expect(try await store.storedTransaction(app: "coins", id: "1", environment: nil) != nil)
        },
        StoredStateContract("answers go with the notifications, those of the Sandbox earlier") { store in
            try await keep(store, answer("1", at: 0), answer("2", at: 0, environment: .sandbox))
            func left(at day: Double) async throws -> [Int] {
                let result = try await store.enforceRetention(RetentionPolicy(), at: CaseModel.time(day * 24), limit: 9)
                var found = 0
                for id in ["1", "2"] {
                    found += try await store.storedTransaction(app: "coins", id: id, environment: nil) == nil ? 0 : 1
                }
                return [result.answers, found]
            }
            #expect(try await left(at: 29) == [0, 2])
            #expect(try await left(at: 31) == [1, 1])
            #expect(try await left(at: 181) == [1, 0])
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

    /// The seconds of an hour of `CaseModel.time`.
    private static func seconds(_ hour: Double) -> TimeInterval { CaseModel.time(hour).timeIntervalSince1970 }

    /// What Apple signed at an hour when it was asked about a period of a subscription that began with it or with another one.
    private static func answer(
        _ id: String, of original: String? = nil, at hour: Double, status: SubscriptionStatus? = nil,
        environment: AppStoreEnvironment = .production
    ) -> AppleAnswer {
        let transaction = Transaction.sample(
            id: id, original: original, account: "account", type: .autoRenewableSubscription,
            purchased: seconds(Double(id) ?? 0), signed: seconds(hour), environment: environment)
        let standing = status.map {
            AppleAnswer.Standing(
                status: $0, subscriptionGroupIdentifier: "group",
                renewalInfo: VerifiedData(payload: Array(#"{"of":"\#(id)"}"#.utf8), signed: "r"),
                signedDate: transaction.signedDate)
        }
        return AppleAnswer(app: "coins", transaction: transaction, standing: standing)
    }

    private static func keep(_ store: any Store, _ answers: AppleAnswer...) async throws {
        try await store.keep(answers, notedAfter: store.erasures, at: CaseModel.time(0))
    }

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
