import Domain
import Foundation
import Testing

extension UsageStoreContract {
    static let erasing: [UsageStoreContract] = [
        UsageStoreContract("an erasure removes what names the user, and nobody else's") { store in
            _ = try await store.recordUsage([
                try .sample(product: "gems", of: "alice", 10, at: 1), try .sample("1", 20, at: 1, user: "alice"),
                try .sample(product: "gems", of: "bob", 30, at: 1), try .sample("2", 40, at: 1),
            ])
            #expect(try await erase("alice", from: store) == 2)
            #expect(try await list("alice", store).isEmpty)
            #expect(try await store.usage(of: .transaction("1")) == nil)
            #expect(try await list("bob", store).count == 1)
            #expect(try await percentage(store, .transaction("2")) == 40)
            #expect(try await erase("alice", from: store) == 0)
            // What comes afterwards is news.
            _ = try await store.recordUsage([try .sample(product: "gems", of: "alice", 50, at: 0)])
            #expect(try await list("alice", store).count == 1)
        },
        UsageStoreContract(
            "an erasure finds the user's purchases by links, ended ones included, unless they are another's"
        ) {
            store in
            for (id, kind) in [("1", .transactionId), ("2", .originalTransactionId)] as [(String, LinkTarget.Kind)] {
                _ = try await store.declare(try .sample(kind, id, user: "alice"), transfer: false)
            }
            for id in ["3", "4"] {
                _ = try await store.declare(try .sample(.transactionId, id, user: "alice"), transfer: false)
            }
            let alice = try UserID("alice")
            _ = try await store.end(
                app: "coins", user: alice, target: LinkTarget(.transactionId, "3"), at: Date(timeIntervalSince1970: 900)
            )
            _ = try await store.declare(try .sample(.transactionId, "4", user: "bob"), transfer: true)
            for id in 1...4 { _ = try await store.recordUsage([try .sample("\(id)", 10, at: 1)]) }
            #expect(try await erase("alice", from: store) == 3)
            for id in 1...3 { #expect(try await store.usage(of: .transaction("\(id)")) == nil, "\(id)") }
            #expect(try await percentage(store, .transaction("4")) == 10)
        },
        UsageStoreContract("an erasure finds the user's purchases by their tokens and notifications") { store in
            _ = try await store.declare(try .sample(.appAccountToken, token, user: "alice"), transfer: false)
            try await store.take(
                .sample("n", type: "ONE_TIME_CHARGE", transaction: .sample(id: "2", original: "1", token: token)))
            try await store.learn(
                from: [.sample(id: "3", token: token)], app: "coins", at: Date(timeIntervalSince1970: 1))
            try await store.recordToken(
                token, of: "4", app: "coins", environment: .production, at: Date(timeIntervalSince1970: 1))
            for id in 1...5 { _ = try await store.recordUsage([try .sample("\(id)", 10, at: 1)]) }
            #expect(try await erase("alice", from: store) == 4)
            #expect(try await percentage(store, .transaction("5")) == 10)
        },
    ]

    private static func erase(_ user: String, from store: any Store) async throws -> Int {
        try await store.eraseUser(app: "coins", user: try UserID(user), at: Date(timeIntervalSince1970: 9_000)).usage
    }

    private static func list(_ user: String, _ store: any Store) async throws -> [UsageReport] {
        try await store.usage(app: "coins", user: try UserID(user), after: nil, limit: 100).map(\.report)
    }
}
