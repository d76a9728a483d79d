import Domain
import Foundation
import TestSupport
import Testing

struct OwnerRuleTests {
    private let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

    private func owner(_ transaction: Transaction, _ links: [Link], users: [String] = []) throws -> String? {
        OwnerRule(links: links, users: Set(try users.map { try UserID($0) })).owner(of: transaction)?.value
    }

    @Test func `nobody owns a purchase that no link speaks of`() throws {
        #expect(try owner(.sample(account: "A"), []) == nil)
    }

    @Test func `the linked appAccountToken comes before every other link, whatever its case`() throws {
        let links = [
            try Link.sample(.transactionId, "1000", user: "bob"),
            try Link.sample(.appAccountToken, token.uppercased(), user: "alice"),
        ]
        #expect(try owner(.sample(token: token.uppercased()), links) == "alice")
    }

    @Test func `an appAccountToken that is itself a user's id names that user`() throws {
        let links = [try Link.sample(.appTransactionId, "A", user: "bob")]
        #expect(
            try owner(.sample(account: "A", token: token), links, users: [token.uppercased()]) == token.uppercased())
        #expect(try owner(.sample(account: "A", token: token), links) == "bob")
    }

    @Test func `the transaction comes before its original, and that before the account`() throws {
        let account = try Link.sample(.appTransactionId, "A", user: "carol")
        let original = try Link.sample(.originalTransactionId, "900", user: "bob")
        let exact = try Link.sample(.transactionId, "1000", user: "alice")
        let transaction = Transaction.sample(id: "1000", original: "900", account: "A")
        #expect(try owner(transaction, [account]) == "carol")
        #expect(try owner(transaction, [account, original]) == "bob")
        #expect(try owner(transaction, [account, original, exact]) == "alice")
    }

    @Test func `the link of the original transaction counts that held when the purchase was made`() throws {
        let links = [
            try Link.sample(.originalTransactionId, "900", user: "alice", until: 2000),
            try Link.sample(.originalTransactionId, "900", user: "bob", from: 2000),
        ]
        #expect(try owner(.sample(original: "900", purchased: 1999), links) == "alice")
        #expect(try owner(.sample(original: "900", purchased: 2000), links) == "bob")
    }

    @Test func `an ended link of a transaction or account counts no more`() throws {
        let links = [
            try Link.sample(.transactionId, "1000", user: "alice", until: 2000),
            try Link.sample(.appTransactionId, "A", user: "alice", until: 2000),
        ]
        #expect(try owner(.sample(account: "A"), links) == nil)
    }

    @Test func `a link of the other environment says nothing, one of unknown environment does`() throws {
        let sandbox = try Link.sample(.transactionId, "1000", user: "alice", environment: .sandbox)
        let unknown = try Link.sample(.transactionId, "1000", user: "bob")
        #expect(try owner(.sample(environment: .production), [sandbox]) == nil)
        #expect(try owner(.sample(environment: .sandbox), [sandbox]) == "alice")
        #expect(try owner(.sample(environment: .production), [unknown]) == "bob")
    }
}
