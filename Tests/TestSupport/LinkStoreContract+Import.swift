import Domain
import Foundation
import Testing

extension LinkStoreContract {
    /// What becomes of links that are imported together.
    static let imports: [LinkStoreContract] = [
        LinkStoreContract("links imported together end as those imported one by one") { store in
            let statements = try statements()
            let decisions = try await store.importLinks(statements)
            #expect(decisions.count == statements.count)
            var expected: [Link] = []
            for (statement, decision) in zip(statements, decisions) {
                let existing = expected.filter { $0.target == statement.target }
                #expect(LinkRules.importing(statement, existing: existing) == decision)
                expected = decision.applied(to: expected)
            }
            #expect(try await store.links(app: "coins", targets: Set(statements.map(\.target))) == expected)
        },
        LinkStoreContract("the same links imported again, together or in parts, change nothing") { store in
            let statements = try statements()
            let first = try await store.importLinks(Array(statements.prefix(4)))
            #expect(first.count == 4)
            _ = try await store.importLinks(statements)
            let targets = Set(statements.map(\.target))
            let links = try await store.links(app: "coins", targets: targets)
            let again = try await store.importLinks(statements)
            for decision in again {
                switch decision {
                case .keep, .conflict: break
                case .replace, .insert, .transfer: Issue.record("\(decision)")
                }
            }
            #expect(try await store.links(app: "coins", targets: targets) == links)
        },
        LinkStoreContract("an imported link comes back with its interval, source and author") { store in
            let ended = try Link.sample(
                .originalTransactionId, "1", user: "alice", environment: .sandbox, source: .imported, from: 100,
                until: 200)
            #expect(try await store.importLinks([ended]) == [.insert(ended)])
            #expect(try await store.links(app: "coins", user: ended.user) == [ended])
            #expect(try await store.knownUsers(app: "coins", matching: ["alice"]).isEmpty)
        },
        LinkStoreContract("nothing imported is nothing done") { store in
            let decisions = try await store.importLinks([])
            #expect(decisions.isEmpty)
        },
    ]

    /// New ones, the same twice, a conflict, a hand-over, what was learnt, and one that begins earlier.
    private static func statements() throws -> [Link] {
        let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
        func link(
            _ value: String, _ user: String, from: TimeInterval? = nil, until: TimeInterval? = nil
        ) throws -> Link {
            try Link.sample(.originalTransactionId, value, user: user, source: .imported, from: from, until: until)
        }
        return [
            try link("1", "alice"), try link("1", "alice"), try link("1", "bob"),
            try link("2", "alice", from: 100, until: 200), try link("2", "bob"), try link("2", "carol", from: 150),
            try link("3", "alice", from: 300), try link("3", "alice", from: 100),
            try Link.sample(.appAccountToken, token, user: "alice", environment: .sandbox, source: .imported),
            try Link.sample(.appAccountToken, token, user: "bob", environment: .production, source: .imported),
            try Link.sample(.appAccountToken, token.uppercased(), user: "bob", source: .imported),
        ]
    }
}

extension CaseStoreContract {
    /// What follows from links that are imported after the case was opened.
    static let imports: [CaseStoreContract] = [
        CaseStoreContract("a case opened before follows imported links, and stored notifications teach what they prove")
        {
            store in
            let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
            let named = Transaction.sample(id: "2", original: "1", account: "704", token: token)
            let other = Transaction.sample(id: "9", original: "8")
            try await store.take(.sample("a", transaction: named), .sample("b", transaction: other))
            let before = try await store.refundCases(app: "coins", CaseQuery())
            #expect(before.map(\.owner) == [nil, nil])
            _ = try await store.importLinks([
                try Link.sample(.appAccountToken, token, user: "alice", source: .imported),
                try Link.sample(.originalTransactionId, "8", user: "bob", source: .imported),
                // What the token's link has taught by then is alice's.
                try Link.sample(.originalTransactionId, "1", user: "bob", source: .imported),
            ])
            #expect(try await store.refundCase(app: "coins", id: "case-a")?.owner?.value == "alice")
            #expect(try await store.refundCase(app: "coins", id: "case-b")?.owner?.value == "bob")
            let taught = try await store.links(app: "coins", targets: [LinkTarget(.originalTransactionId, "1")])
            #expect(taught.map(\.user.value) == ["alice"])
            #expect(taught.map(\.source) == [.signedData])
        }
    ]
}
