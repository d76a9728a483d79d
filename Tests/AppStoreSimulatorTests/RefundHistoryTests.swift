import AppStoreAPI
import AppStoreSimulator
import Curl
import Testing

struct RefundHistoryTests {
    private func refunds(
        _ fixture: SimulatorFixture, _ identifier: String, after revision: String? = nil
    ) async throws -> (transactions: [TransactionPayload], revision: String) {
        var found: [TransactionPayload] = []
        var revision = revision
        while true {
            let response = try await fixture.call(.getRefundHistory(transactionId: identifier, revision: revision))
            try #require(response.status == 200)
            let page = try RefundHistoryResponse(parsing: response.body)
            for signed in try #require(page.signedTransactions) { found.append(try fixture.verified(signed)) }
            revision = page.revision
            guard page.hasMore == true else { return (found, try #require(revision)) }
            #expect(page.signedTransactions?.count == fixture.state.pageSize)
        }
    }

    @Test func `an account without refunds has an empty list`() async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            #expect(try await refunds(fixture, id).transactions.isEmpty)
        }
    }

    @Test func `refunds come in pages by their date, whatever the order they were made in`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            var dates: [Int64] = []
            var last = ""
            for index in 0..<45 {
                last = try #require(try fixture.buy(by: account).transactionId)
                let date = fixture.clock.milliseconds + Int64(index * 7 % 45)
                dates.append(date)
                try fixture.state.refund(last, Refund(date: date))
            }
            let found = try await refunds(fixture, last).transactions
            #expect(found.compactMap(\.revocationDate) == dates.sorted())
            #expect(Set(found.map(\.transactionId)).count == 45)
        }
    }

    @Test func `a refund says what was given back and why`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let whole = try #require(try fixture.buy(by: account).transactionId)
            let part = try #require(try fixture.buy(by: account).transactionId)
            try fixture.state.refund(whole, Refund(reason: .issue))
            fixture.clock.advance(by: 1)
            try fixture.state.refund(part, Refund(percentage: 25_000))
            let found = try await refunds(fixture, whole).transactions
            #expect(found.map(\.transactionId) == [whole, part])
            #expect(found.map(\.revocationReason) == [.issue, .otherReason])
            #expect(found.map(\.revocationType) == [.refundFull, .refundProrated])
            #expect(found.map(\.revocationPercentage) == [100_000, 25_000])
            #expect(found.last?.revocationDate == fixture.clock.milliseconds)
        }
    }

    @Test func `a stored revision leads to newer refunds only`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let first = try #require(try fixture.buy(by: account).transactionId)
            let second = try #require(try fixture.buy(by: account).transactionId)
            try fixture.state.refund(first)
            let revision = try await refunds(fixture, first).revision
            #expect(try await refunds(fixture, first, after: revision).transactions.isEmpty)
            fixture.clock.advance(by: 1)
            try fixture.state.refund(second)
            let newer = try await refunds(fixture, first, after: revision).transactions
            #expect(newer.map(\.transactionId) == [second])
        }
    }

    @Test func `a reversed refund vanishes, and its fields with it`() async throws {
        try await SimulatorFixture.with { fixture in
            let bought = try fixture.buyOnce()
            let id = try #require(bought.transactionId)
            try fixture.state.refund(id)
            #expect(try await refunds(fixture, id).transactions.count == 1)
            #expect(try fixture.state.reverseRefund(id) == bought)
            #expect(try await refunds(fixture, id).transactions.isEmpty)
        }
    }

    @Test func `access that a family member lost is no refund of theirs`() async throws {
        try await SimulatorFixture.with { fixture in
            let purchaser = try fixture.state.createAccount(in: .sandbox, family: "f").id
            let member = try fixture.state.createAccount(in: .sandbox, family: "f").id
            let id = try #require(try fixture.buy(by: purchaser) { $0.type = .nonConsumable }.transactionId)
            let shared = try #require(try fixture.state.share(id, with: member).transactionId)
            try fixture.state.refund(id)
            #expect(try await refunds(fixture, id).transactions.map(\.transactionId) == [id])
            #expect(try await refunds(fixture, shared).transactions.isEmpty)
            #expect(try fixture.state.transaction(shared).revocationType == .familyRevoke)
        }
    }

    @Test(arguments: ["", "x", "MSAyIGE"])
    func `an invented revision is refused`(revision: String) async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            try await fixture.expect(
                .invalidRequestRevision, from: .getRefundHistory(transactionId: id, revision: revision))
        }
    }
}
