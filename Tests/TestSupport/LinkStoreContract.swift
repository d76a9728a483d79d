package import Domain
import Foundation
import Testing

/// What every link store must do; run against the real one and the one in memory, so that the latter cannot drift.
package struct LinkStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Make = @Sendable () async throws -> any LinkStore

    package let testDescription: String
    private let check: @Sendable (any LinkStore) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    init(_ description: String, _ check: @escaping @Sendable (any LinkStore) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases = declarations + imports

    private static let declarations: [LinkStoreContract] = [
        LinkStoreContract("a declared link is found by user and by identifier, with all that was said") { store in
            let link = try Link.sample(
                .appAccountToken, "3F2504E0-4F89-11D3-9A0C-0305E82C3301", user: "ÄLICE/1", environment: .sandbox)
            #expect(try await store.declare(link, transfer: false) == .insert(link))
            #expect(try await store.links(app: "coins", user: link.user) == [link])
            #expect(try await store.links(app: "coins", targets: [link.target]) == [link])
            #expect(try await store.links(app: "gems", targets: [link.target]).isEmpty)
            #expect(try await store.links(app: "gems", user: link.user).isEmpty)
        },
        LinkStoreContract("another user's link is a conflict, and a transfer ends it") { store in
            let bob = try Link.sample(.transactionId, "1", user: "bob", created: 100)
            let alice = try Link.sample(.transactionId, "1", user: "alice", created: 500)
            _ = try await store.declare(bob, transfer: false)
            #expect(try await store.declare(alice, transfer: false) == .conflict(bob))
            _ = try await store.declare(alice, transfer: true)
            let links = try await store.links(app: "coins", targets: [bob.target])
            #expect(links.map(\.user.value) == ["bob", "alice"])
            #expect(links.map(\.validUntil) == [Date(timeIntervalSince1970: 500), nil])
            #expect(links.map(\.validFrom) == [nil, Date(timeIntervalSince1970: 500)])
        },
        LinkStoreContract("a learnt link never overrides, and is known the second time") { store in
            let learnt = try Link.sample(
                .transactionId, "1", user: "alice", environment: .sandbox, source: .consumption)
            #expect(try await store.learn(learnt) == .insert(learnt))
            #expect(try await store.learn(learnt) == .keep(learnt))
            let other = try Link.sample(.transactionId, "1", user: "bob", environment: .sandbox, source: .consumption)
            #expect(try await store.learn(other) == .conflict(learnt))
            #expect(try await store.links(app: "coins", user: other.user).isEmpty)
        },
        LinkStoreContract("declaring a learnt link keeps one link, now declared") { store in
            let learnt = try Link.sample(
                .transactionId, "1", user: "alice", environment: .sandbox, source: .consumption)
            _ = try await store.learn(learnt)
            _ = try await store.declare(try Link.sample(.transactionId, "1", user: "alice"), transfer: false)
            let links = try await store.links(app: "coins", targets: [learnt.target])
            #expect(links.map(\.source) == [.declared])
            #expect(links.map(\.environment) == [.sandbox])
        },
        LinkStoreContract("ending a link keeps it in the list, and ending again finds nothing") { store in
            let link = try Link.sample(.transactionId, "1", user: "alice")
            _ = try await store.declare(link, transfer: false)
            let date = Date(timeIntervalSince1970: 900)
            let ended = try await store.end(app: "coins", user: link.user, target: link.target, at: date)
            #expect(ended.map(\.validUntil) == [date])
            #expect(try await store.links(app: "coins", user: link.user) == ended)
            #expect(try await store.end(app: "coins", user: link.user, target: link.target, at: date).isEmpty)
        },
        LinkStoreContract("a user is known by its id in any case, as long as a link is in force") { store in
            let link = try Link.sample(.transactionId, "1", user: "3F2504E0-4F89-11D3-9A0C-0305E82C3301")
            _ = try await store.declare(link, transfer: false)
            let folded = link.user.value.lowercased()
            #expect(try await store.knownUsers(app: "coins", matching: [folded, "nobody"]) == [link.user])
            #expect(try await store.knownUsers(app: "gems", matching: [folded]).isEmpty)
            _ = try await store.end(
                app: "coins", user: link.user, target: link.target, at: Date(timeIntervalSince1970: 900))
            #expect(try await store.knownUsers(app: "coins", matching: [folded]).isEmpty)
        },
        LinkStoreContract("users whose ids differ in a byte are different users, even behind a NUL") { store in
            let ids = ["bob", "Bob", "bob ", "bob\u{0}", "bob\u{0}1", "bob%", "b_b"]
            for id in ids {
                let link = try Link.sample(.transactionId, "of-\(id.utf8.count)-\(id.hashValue)", user: id)
                #expect(try await store.declare(link, transfer: false) == .insert(link))
            }
            for id in ids {
                let links = try await store.links(app: "coins", user: try UserID(id))
                #expect(links.map(\.user.value) == [id])
                #expect(
                    try await store.end(
                        app: "coins", user: try UserID(id + "\u{0}x"), target: links[0].target, at: Date()
                    ).isEmpty)
            }
        },
        LinkStoreContract("one identifier can belong to a user in each environment") { store in
            let sandbox = try Link.sample(.transactionId, "1", user: "alice", environment: .sandbox)
            let production = try Link.sample(.transactionId, "1", user: "bob", environment: .production)
            #expect(try await store.declare(sandbox, transfer: false) == .insert(sandbox))
            #expect(try await store.declare(production, transfer: false) == .insert(production))
            #expect(try await store.links(app: "coins", targets: [sandbox.target]) == [sandbox, production])
            let either = try Link.sample(.transactionId, "1", user: "carol", created: 500)
            let decision = try await store.declare(either, transfer: true)
            guard case .transfer(let old, _, let new) = decision else {
                Issue.record("\(decision)")
                return
            }
            #expect(old == [sandbox, production])
            let links = try await store.links(app: "coins", targets: [sandbox.target])
            #expect(links.filter(\.isInForce) == [new])
            #expect(links.count == 3)
        },
        LinkStoreContract("a link begins where the last one of its identifier ended") { store in
            let bob = try Link.sample(.originalTransactionId, "1", user: "bob", created: 100)
            _ = try await store.declare(bob, transfer: false)
            _ = try await store.end(
                app: "coins", user: bob.user, target: bob.target, at: Date(timeIntervalSince1970: 300))
            _ = try await store.declare(
                try Link.sample(.originalTransactionId, "1", user: "alice", created: 500), transfer: false)
            let links = try await store.links(app: "coins", targets: [bob.target])
            #expect(links.map(\.validFrom) == [nil, Date(timeIntervalSince1970: 300)])
        },
        LinkStoreContract("times come back to the millisecond, and are answered as they are kept") { store in
            let kept = Date(milliseconds: 1_700_000_000_123)
            let link = try Link.sample(.transactionId, "1", user: "alice", created: kept.timeIntervalSince1970)
            guard case .insert(let inserted) = try await store.declare(link, transfer: false) else {
                Issue.record("not inserted")
                return
            }
            #expect(inserted.createdAt == kept)
            #expect(try await store.links(app: "coins", user: link.user) == [inserted])
            let ended = try await store.end(app: "coins", user: link.user, target: link.target, at: kept)
            #expect(ended.map(\.validUntil) == [kept])
            #expect(try await store.links(app: "coins", user: link.user) == ended)
        },
        LinkStoreContract("links come in the order they were recorded, whatever their kind") { store in
            let kinds: [LinkTarget.Kind] = [.transactionId, .appTransactionId, .originalTransactionId, .transactionId]
            var recorded: [Link] = []
            for (number, kind) in kinds.enumerated() {
                recorded.append(try Link.sample(kind, "\(9 - number)", user: "alice", created: Double(100 - number)))
                _ = try await store.declare(recorded[number], transfer: false)
            }
            #expect(try await store.links(app: "coins", user: try UserID("alice")) == recorded)
            #expect(try await store.links(app: "coins", targets: Set(recorded.map(\.target))) == recorded)
        },
        LinkStoreContract("nothing asked is nothing found") { store in
            let links = try await store.links(app: "coins", targets: [])
            let users = try await store.knownUsers(app: "coins", matching: [])
            #expect(links.isEmpty && users.isEmpty)
        },
        LinkStoreContract("of a thousand users that claim one identifier at once, one gets it") { store in
            let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        let link = try Link.sample(.transactionId, "1", user: "user-\(number)")
                        if case .insert = try await store.declare(link, transfer: false) { return true }
                        return false
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(winners == 1)
            #expect(try await store.links(app: "coins", targets: [LinkTarget(.transactionId, "1")]).count == 1)
        },
        LinkStoreContract("thousands of identifiers can be asked for at once") { store in
            for number in [1, 600, 1999] {
                _ = try await store.declare(
                    try Link.sample(.transactionId, "\(number)", user: "alice"), transfer: false)
            }
            let targets = Set((0..<2000).map { LinkTarget(.transactionId, "\($0)") })
            #expect(try await store.links(app: "coins", targets: targets).map(\.target.value) == ["1", "600", "1999"])
        },
    ]
}
