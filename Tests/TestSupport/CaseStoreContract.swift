package import Domain
import Foundation
import Testing

/// What every store of refund cases must do.
package struct CaseStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = CaseStore & NotificationStore & EventStore & LinkStore & DeliveryStore
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases = order + listing + ending + owners + imports

    private static let order: [CaseStoreContract] = [
        CaseStoreContract("a case comes back whole") { store in
            let transaction = Transaction.sample(
                id: "2", original: "1", account: "704", token: "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
                type: .nonConsumable, isFamilyShared: true, isAdvancedCommerce: true, environment: .sandbox)
            let changes = try await store.take(
                .sample("a", reason: "LEGAL", transaction: transaction), .sample("b", at: 1, transaction: transaction))
            guard case .open(let opened) = changes[0], case .remind(let reminded) = changes[1] else {
                Issue.record("\(changes)")
                return
            }
            #expect(reminded.purchase == transaction.facts)
            #expect(reminded.requests.map(\.notificationUUID) == ["a", "b"])
            #expect(reminded.requests.map(\.reason) == ["LEGAL", nil])
            #expect(try await store.refundCase(app: "coins", id: opened.id) == reminded)
            #expect(try await store.refundCase(app: "gems", id: opened.id) == nil)
        },
        CaseStoreContract("Apple's notices end in the same cases in every order") { store in
            let story = [
                CaseModel.request("r1", at: 0), CaseModel.request("r2", at: 1, reason: "LEGAL"),
                CaseModel.outcome("d1", .refundDeclined, at: 2), CaseModel.request("r3", at: 3),
                CaseModel.outcome("d2", .refunded, at: 4),
            ]
            // All at once, each order with a transaction of its own.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, order) in story.permutations.enumerated() {
                    group.addTask { try await expectTwoCases(of: order, transaction: "\(number)", store) }
                }
                try await group.waitForAll()
            }
        },
        CaseStoreContract("a transaction has its cases in each environment and app") { store in
            for (number, environment) in AppStoreEnvironment.allCases.enumerated() {
                let transaction = Transaction.sample(environment: environment)
                try await store.take(.sample("a\(number)", at: Double(number), transaction: transaction))
                try await store.take(.sample("a\(number)", transaction: transaction, app: "gems"))
            }
            #expect(try await store.refundCases(app: "coins", CaseQuery()).count == 2)
            try await store.take(.sample("d", type: "REFUND", at: 2))
            let decided = try await store.refundCases(app: "coins", CaseQuery()).filter { $0.state == .decided }
            #expect(decided.map(\.environment) == [.production])
            #expect(try await store.refundCases(app: "gems", CaseQuery()).allSatisfy { $0.state == .open })
        },
        CaseStoreContract("every change of a case is told, in order") { store in
            try await store.take(
                .sample("a"), .sample("b", at: 1), .sample("d", type: "REFUND", at: 2),
                .sample("v", type: "REFUND_REVERSED", at: 3))
            let events = try await store.events(after: 0, limit: 20).filter { $0.kind != .notificationReceived }
            #expect(events.map(\.kind) == [.caseOpened, .caseReminded, .caseDecided, .caseDecided])
            #expect(events.map(\.detail) == [nil, nil, "refunded", "refundReversed"])
            #expect(events.map(\.at) == (0...3).map { CaseModel.time(Double($0)) })
            #expect(events.allSatisfy { $0.subject == "case-a" && $0.caseID == "case-a" && $0.transactionID == "1000" })
        },
        CaseStoreContract("a request for what is decided already, or over, is told as such") { store in
            try await store.take(.sample("d", type: "REFUND", at: 2), .sample("a", at: 1, received: 3))
            try await store.take(.sample("late", at: 0, received: 13, transaction: .sample(id: "2")))
            let events = try await store.events(after: 0, limit: 20).filter { $0.kind != .notificationReceived }
            #expect(events.map(\.kind) == [.caseOpened, .caseDecided, .caseOpened, .caseExpired])
        },
    ]

    /// Takes the story's notices in some order, and looks what came of them.
    private static func expectTwoCases(
        of order: [CaseRules.Notice], transaction id: String, _ store: any Store
    ) async throws {
        let transaction = Transaction.sample(id: id)
        for notice in order {
            let own = CaseRules.Notice(
                message: notice.message, notificationUUID: "\(notice.notificationUUID) of \(id)", app: "coins",
                purchase: transaction.facts, signedAt: notice.signedAt, receivedAt: notice.receivedAt)
            try await store.take(StoredNotification(own, transaction: transaction))
        }
        var query = CaseQuery()
        query.transactionID = id
        let cases = try await store.refundCases(app: "coins", query)
        #expect(cases.map(\.state) == [.decided, .decided])
        #expect(cases.map(\.outcome) == [.refundDeclined, .refunded])
        #expect(cases.map(\.decidedAt) == [CaseModel.time(2), CaseModel.time(4)])
        #expect(cases.map(\.deadline) == [CaseModel.time(12), CaseModel.time(15)])
        #expect(cases.map { $0.requests.map { $0.notificationUUID.prefix(2) } } == [["r1", "r2"], ["r3"]])
        #expect(cases.map(\.reason) == ["LEGAL", nil])
    }

    private static let owners: [CaseStoreContract] = [
        CaseStoreContract("the owner of an open case follows the links of its transaction") { store in
            try await store.take(.sample("a"))
            let alice = try Link.sample(.transactionId, "1000", user: "alice", source: .consumption)
            let bob = try Link.sample(.transactionId, "1000", user: "bob")
            _ = try await store.learn(alice)
            try await expectOwner(store, "alice")
            _ = try await store.declare(bob, transfer: false)
            try await expectOwner(store, "alice")
            _ = try await store.declare(bob, transfer: true)
            try await expectOwner(store, "bob")
            _ = try await store.end(app: "coins", user: bob.user, target: bob.target, at: CaseModel.time(1))
            try await expectOwner(store, nil)
        },
        CaseStoreContract("the owner of an open case follows links of every kind of identifier") { store in
            let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
            let transaction = Transaction.sample(id: "2", original: "1", account: "704", token: token)
            try await store.take(.sample("a", transaction: transaction))
            for (kind, value) in [
                (.appTransactionId, "704"), (.originalTransactionId, "1"), (.transactionId, "2"),
                (.appAccountToken, token),
            ] as [(LinkTarget.Kind, String)] {
                // Each is stronger than the one before.
                _ = try await store.declare(try .sample(kind, value, user: kind.rawValue), transfer: false)
                try await expectOwner(store, kind.rawValue)
            }
        },
        CaseStoreContract("a user who becomes known by any link owns what carries the user's id as token") { store in
            let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
            try await store.take(.sample("a", transaction: .sample(token: token)))
            try await expectOwner(store, nil)
            let link = try Link.sample(.transactionId, "77", user: token.uppercased())
            _ = try await store.declare(link, transfer: false)
            try await expectOwner(store, token.uppercased())
            // What Apple signed has taught more links meanwhile.
            _ = try await store.declare(try .sample(.transactionId, "77", user: "bob"), transfer: true)
            try await expectOwner(store, token.uppercased())
        },
        CaseStoreContract("a link of the other environment or app says nothing about a case") { store in
            try await store.take(.sample("a"))
            _ = try await store.declare(
                try .sample(.transactionId, "1000", user: "alice", environment: .sandbox), transfer: false)
            try await expectOwner(store, nil)
        },
        CaseStoreContract("the owner of a case follows the facts when it is closed, too") { store in
            let alice = try Link.sample(.transactionId, "1000", user: "alice")
            _ = try await store.declare(alice, transfer: false)
            try await store.take(.sample("a"), .sample("d", type: "REFUND", at: 1))
            _ = try await store.end(app: "coins", user: alice.user, target: alice.target, at: CaseModel.time(2))
            try await expectOwner(store, nil)
        },
    ]

    private static func expectOwner(
        _ store: any Store, _ user: String?, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let owner = try await store.refundCase(app: "coins", id: "case-a")?.owner
        #expect(owner?.value == user, sourceLocation: sourceLocation)
        let query = CaseQuery()
        #expect(
            try await store.refundCases(app: "coins", query).first?.owner?.value == user,
            sourceLocation: sourceLocation)
    }
}
