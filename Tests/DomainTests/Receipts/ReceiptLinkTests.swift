import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

@testable import Domain

/// What a confirmed receipt teaches, what is fraud, and what is a flag.
struct ReceiptLinkTests {
    @Test func `a confirmed receipt gives open cases and stored notifications their owner`() async throws {
        let transaction = Transaction.sample(id: "1", account: "A")
        try await ReceiptFixture.with(accounts: [[transaction]]) { fixture in
            let opened = try await fixture.base.openCase(transaction)
            #expect(opened.owner == nil)
            fixture.gateway.fail("1", with: .outOfReach)
            let answer = try await fixture.upload()
            // Nothing is linked before Apple has confirmed it.
            #expect(
                try await fixture.base.services.refunds.cases.refundCase(app: ReceiptFixture.app, id: opened.id).owner
                    == nil)
            fixture.gateway.fail("1", with: nil)
            try await fixture.asking { try await fixture.pass(answer) { $0.state == .confirmed } }
            let owned = try await fixture.base.services.refunds.cases.refundCase(app: ReceiptFixture.app, id: opened.id)
            #expect(owned.owner?.value == "alice")
        }
    }

    @Test func `who is named later is linked without waiting for news`() async throws {
        try await ReceiptFixture.with { fixture in
            _ = try await fixture.upload(user: nil)
            #expect(try await fixture.links(of: "alice").isEmpty)
            let answer = try await fixture.upload(user: "alice")
            #expect(answer.isConfirmed)
            #expect(try await fixture.links(of: "alice").count == 2)
        }
    }

    @Test func `a declared link stands, and the contradiction is a flag`() async throws {
        try await ReceiptFixture.with { fixture in
            _ = try await fixture.store.declare(
                try .sample(.originalTransactionId, "1", user: "bob"), transfer: false)
            let receipt = try await fixture.kept(try await fixture.upload())
            #expect(receipt.flags == [.linkConflict] && receipt.state == .confirmed && !receipt.isFraud)
            #expect(try await fixture.links(of: "bob") == ["originalTransactionId 1 declared"])
            #expect(try await fixture.links(of: "alice") == ["appTransactionId A receipt"])
        }
    }

    @Test func `what is shared in a family teaches nothing`() async throws {
        let account = [Transaction.sample(id: "1", account: "A", isFamilyShared: true)]
        try await ReceiptFixture.with(accounts: [account]) { fixture in
            let told = try await fixture.upload()
            #expect(told.isConfirmed)
            #expect(try await fixture.links(of: "alice").isEmpty)
        }
    }

    @Test func `several users of one purchase are a flag beyond the bound`() async throws {
        var policy = ReceiptPolicy()
        policy.usersPerTransaction = 2
        try await ReceiptFixture.with(policy: policy) { fixture in
            for user in ["alice", "bob"] {
                let receipt = try await fixture.kept(try await fixture.upload(as: "of \(user)", user: user))
                #expect(!receipt.flags.contains(.severalUsers))
            }
            // The same user again, in either way, is one user.
            _ = try await fixture.upload(as: "of bob again", user: "bob")
            let third = try await fixture.kept(try await fixture.upload(as: "of carol", user: "carol"))
            #expect(third.flags.contains(.severalUsers) && !third.isFraud && third.state == .confirmed)
            #expect(try await fixture.links(of: "carol").isEmpty)
        }
    }

    @Test func `a purchase that Apple took back is a flag, and told when it happens later`() async throws {
        try await ReceiptFixture.with { fixture in
            let answer = try await fixture.upload()
            #expect(try await fixture.kept(answer).flags.isEmpty)
            fixture.gateway.add([.sample(id: "1", account: "A", signed: 6000, revoked: 5500)])
            fixture.base.clock.advance(by: .seconds(3600))
            let receipt = try await fixture.kept(try await fixture.upload())
            #expect(receipt.flags == [.revoked] && !receipt.isFraud && receipt.state == .confirmed)
            #expect(receipt.apple["1"]?.version == 2)
            #expect(try await fixture.events() == ["receipt.confirmed", "receipt.changed"])
        }
    }

    @Test func `another device is a flag`() async throws {
        try await ReceiptFixture.with { fixture in
            let content = ReceiptContent.sample(device: .mismatch)
            let unsent = try await fixture.upload(content)
            #expect(try await fixture.kept(unsent).flags.isEmpty)
            let sent = try await fixture.kept(try await fixture.upload(content, device: UUID()))
            #expect(sent.flags == [.deviceMismatch] && sent.content.deviceCheck == .mismatch && !sent.isFraud)
        }
    }

    @Test func `a transaction of another app is fraud at once`() async throws {
        try await ReceiptFixture.with { fixture in
            fixture.gateway.fail(
                "1", with: ServiceError(.appleAnswerInvalid, "No.", cause: ServiceError.otherAppCause))
            let answer = try await fixture.upload()
            #expect(answer.isConfirmed)
            let receipt = try await fixture.kept(answer)
            #expect(receipt.isFraud && receipt.fraudReason == .otherApp && receipt.nextAttemptAt == nil)
            #expect(try await fixture.links(of: "alice").isEmpty)
            #expect(try await fixture.events() == ["receipt.fraud TRANSACTION_OF_ANOTHER_APP"])
        }
    }

    @Test func `a receipt that nobody signed is proven by Apple's answer alone`() async throws {
        try await ReceiptFixture.with { fixture in
            fixture.gateway.fail("1", with: .outOfReach)
            let content = ReceiptContent.sample(style: .transaction, environment: nil)
            let told = try await fixture.upload(content)
            #expect(told.isQueued)
            fixture.gateway.fail("1", with: nil)
            let answer = try await fixture.upload(content)
            #expect(answer.isConfirmed && answer.receipt?.content.style == .transaction)
            #expect(fixture.gateway.questions.last == .transaction("1"))
            #expect(answer.receipt?.environment == .production)
        }
    }

    @Test func `a receipt that nobody signed and that Apple contradicts is fraud`() async throws {
        try await ReceiptFixture.with { fixture in
            let content = ReceiptContent.sample(style: .transaction, .sample("1", product: "everything"))
            let answer = try await fixture.upload(content)
            #expect(answer.isConfirmed)
            #expect(answer.receipt?.fraudReason == .contradicted)
            #expect(try await fixture.links(of: "alice").isEmpty)
        }
    }

    @Test func `a receipt that names no environment is looked for in both`() async throws {
        let account = [Transaction.sample(id: "1", account: "A", environment: .sandbox)]
        try await ReceiptFixture.with(accounts: [account]) { fixture in
            let content = ReceiptContent.sample(style: .transaction, environment: nil)
            let told = try await fixture.upload(content)
            #expect(told.receipt?.environment == .sandbox)
        }
    }

    @Test func `lists tell by user, fraud and time, a page at a time`() async throws {
        try await ReceiptFixture.with { fixture in
            for number in 0..<3 { _ = try await fixture.upload(as: "\(number)", user: "alice") }
            fixture.base.clock.advance(by: .seconds(60))
            let middle = fixture.base.now
            _ = try await fixture.upload(as: "bob's", user: "bob")
            fixture.gateway.fail(
                "f", with: ServiceError(.appleAnswerInvalid, "No.", cause: ServiceError.otherAppCause))
            _ = try await fixture.upload(.sample(.sample("f")), as: "forged", user: "bob")
            let names = Dictionary(
                uniqueKeysWithValues: ["0", "1", "2", "bob's", "forged"].map { name in
                    (TestCode.authenticationCode(Array(name.utf8)), name)
                })
            func list(_ change: (inout ReceiptQuery) -> Void) async throws -> [String?] {
                var query = ReceiptQuery()
                change(&query)
                return try await fixture.service.receipts(app: ReceiptFixture.app, query).map {
                    names[$0.receipt.digest]
                }
            }
            #expect(try await list { _ in } == ["forged", "bob's", "2", "1", "0"])
            #expect(try await list { $0.user = try? UserID("bob") } == ["forged", "bob's"])
            #expect(try await list { $0.isFraud = true } == ["forged"])
            #expect(try await list { $0.isFraud = false } == ["bob's", "2", "1", "0"])
            #expect(try await list { $0.since = middle } == ["forged", "bob's"])
            #expect(try await list { $0.limit = 2 } == ["forged", "bob's"])
            let positions = try await fixture.service.receipts(app: ReceiptFixture.app, ReceiptQuery()).map(\.position)
            #expect(try await list { $0.before = positions[1] } == ["2", "1", "0"])
            #expect(try await fixture.service.receipts(app: DeliveryFixture.otherApp, ReceiptQuery()).isEmpty)
        }
    }
}
