import Domain
import Foundation
import Testing

extension CaseStoreContract {
    static let owners: [CaseStoreContract] = [
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
            _ = try await store.end(app: "coins", user: bob.user, target: bob.target, at: CaseDesk.time(1))
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
            _ = try await store.declare(try .sample(.transactionId, "77", user: "bob"), transfer: true)
            try await expectOwner(store, nil)
        },
        CaseStoreContract("a link of the other environment or app says nothing about a case") { store in
            try await store.take(.sample("a"))
            _ = try await store.declare(
                try .sample(.transactionId, "1000", user: "alice", environment: .sandbox), transfer: false)
            try await expectOwner(store, nil)
        },
        CaseStoreContract("a case that is closed keeps its owner") { store in
            let alice = try Link.sample(.transactionId, "1000", user: "alice")
            _ = try await store.declare(alice, transfer: false)
            try await store.take(.sample("a"), .sample("d", type: "REFUND", at: 1))
            _ = try await store.end(app: "coins", user: alice.user, target: alice.target, at: CaseDesk.time(2))
            try await expectOwner(store, "alice")
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
