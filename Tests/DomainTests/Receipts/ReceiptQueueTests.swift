import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

@testable import Domain

/// What waits until Apple has answered.
struct ReceiptQueueTests {
    /// Why Apple does not answer, none of which says anything of the receipt.
    static let reasons: [ServiceError.Reason] = [
        .appleUnavailable, .budgetExhausted, .appleRateLimited, .keyUnavailable, .deadlineExceeded, .appleUnauthorized,
        .appleAppUnknown, .appleAnswerInvalid,
    ]

    @Test(arguments: reasons)
    func `a receipt waits while Apple does not answer, and is confirmed when it does`(
        reason: ServiceError.Reason
    ) async throws {
        try await ReceiptFixture.with { fixture in
            fixture.gateway.fail("1", with: ServiceError(reason, "no", retryAfter: .seconds(5)))
            let answer = try await fixture.upload()
            #expect(answer.isQueued)
            let queued = try await fixture.kept(answer)
            #expect(queued.state == .queued && !queued.isFraud && queued.checkedAt == nil && queued.attempts == 1)
            #expect(try await fixture.links(of: "alice").isEmpty)
            #expect(try await fixture.events().isEmpty)
            try await fixture.asking {
                try await fixture.pass(answer) { $0.attempts > 2 }
                fixture.gateway.fail("1", with: nil)
                let confirmed = try await fixture.pass(answer) { $0.state == .confirmed }
                #expect(confirmed.nextAttemptAt == nil && confirmed.attempts == 0 && confirmed.checkedAt != nil)
            }
            #expect(
                try await fixture.links(of: "alice") == [
                    "originalTransactionId 1 receipt", "appTransactionId A receipt",
                ])
            #expect(try await fixture.events() == ["receipt.confirmed"])
            // What waits gives way to those who wait for an answer.
            let calls = fixture.gateway.calls
            #expect(calls.first?.priority == .interactive)
            #expect(calls.dropFirst().allSatisfy { $0.priority == .background && $0.caller.isEmpty })
        }
    }

    @Test func `it waits across the death of the process, even while Apple was asked`() async throws {
        try await ReceiptFixture.with { fixture in
            fixture.gateway.gate.close()
            let upload = Task { try await fixture.upload() }
            try await Wait.until("Apple to be asked") { fixture.gateway.questions.count == 1 }
            // The process dies here: nothing but the store goes on.
            let waiting = try await fixture.store.receipts(app: "coins", ReceiptQuery())
            #expect(waiting.map(\.receipt.state) == [.queued])
            upload.cancel()
            _ = try? await upload.value
            fixture.gateway.gate.open()
            let successor = fixture.restarted()
            try await successor.asking {
                fixture.base.clock.advance(by: ReceiptRules.lease)
                try await successor.pass(.queued(waiting[0].receipt)) { $0.state == .confirmed }
            }
        }
    }

    @Test func `what nobody finished asking about is asked about by the next process`() async throws {
        try await ReceiptFixture.with { fixture in
            fixture.gateway.fail("1", with: .outOfReach)
            let answer = try await fixture.upload()
            let now = fixture.base.now.advanced(by: .seconds(3600))
            let taken = try await fixture.store.claimReceipts(at: now, skipping: [], limit: (1, 1))
            #expect(taken.map(\.id) == [answer.receipt?.id])
            #expect(try await fixture.store.claimReceipts(at: now, skipping: [], limit: (1, 1)).isEmpty)
            let later = now.advanced(by: ReceiptRules.lease)
            #expect(try await fixture.store.claimReceipts(at: later, skipping: [], limit: (1, 1)).count == 1)
        }
    }

    @Test func `what Apple does not know for a day is fraud, not sooner`() async throws {
        try await ReceiptFixture.with { fixture in
            let answer = try await fixture.upload(.sample(.sample("404")))
            #expect(answer.isQueued)
            #expect(fixture.gateway.calls.map(\.environment) == [.production, .sandbox])
            let start = fixture.base.now
            #expect(try await fixture.kept(answer).unknownSince == start)
            try await fixture.asking {
                let last = try await fixture.pass(by: .seconds(600), answer) {
                    $0.isFraud || fixture.base.now >= start.advanced(by: ReceiptRules.unknownLimit - .seconds(600))
                }
                #expect(last.state == .queued && !last.isFraud)
                let fraud = try await fixture.pass(by: .seconds(600), answer) { $0.isFraud }
                #expect(fraud.fraudReason == .unknown && fraud.nextAttemptAt == nil)
                #expect(try #require(fraud.checkedAt) >= start.advanced(by: ReceiptRules.unknownLimit))
            }
            #expect(try await fixture.links(of: "alice").isEmpty)
            #expect(try await fixture.events() == ["receipt.fraud UNKNOWN_TO_APPLE"])
            // Of two environments, each half an hour on average.
            #expect(fixture.gateway.questions.count < 300)
        }
    }

    @Test func `an outage does not count as not knowing`() async throws {
        try await ReceiptFixture.with { fixture in
            fixture.gateway.fail("404", with: .outOfReach)
            let answer = try await fixture.upload(.sample(.sample("404")))
            try await fixture.asking {
                let start = fixture.base.now
                let waiting = try await fixture.pass(by: .seconds(1800), answer) { _ in
                    fixture.base.now >= start.advanced(by: ReceiptRules.unknownLimit * 2)
                }
                #expect(waiting.state == .queued && waiting.unknownSince == nil)
            }
        }
    }

    @Test func `while the time is in doubt nothing is found to be fraud`() async throws {
        let machine = MachineClock()
        try await ReceiptFixture.with(machine: machine) { fixture in
            fixture.base.hearApple()
            let answer = try await fixture.upload(.sample(.sample("404")))
            #expect(answer.isQueued)
            machine.lead = 200_000
            #expect(!fixture.base.ports.clock.isCertain)
            let again = try await fixture.upload(.sample(.sample("404")))
            #expect(again.isQueued)
            #expect(try await !fixture.kept(again).isFraud)
        }
    }

    @Test func `what was fraud is not any more when Apple knows it`() async throws {
        try await ReceiptFixture.with { fixture in
            let answer = try await fixture.upload(.sample(.sample("404")))
            try await fixture.asking {
                try await fixture.pass(by: .seconds(1800), answer) { $0.isFraud }
                fixture.gateway.fail("404", with: nil)
            }
            let account = [Transaction.sample(id: "404", account: "B")]
            fixture.gateway.add(account)
            let again = try await fixture.upload(.sample(.sample("404")))
            #expect(again.isConfirmed)
            let receipt = try await fixture.kept(again)
            #expect(!receipt.isFraud && receipt.fraudReason == nil && receipt.unknownSince == nil)
            #expect(try await fixture.events() == ["receipt.fraud UNKNOWN_TO_APPLE", "receipt.confirmed"])
        }
    }

    @Test func `a confirmed receipt stays confirmed while Apple cannot be asked again`() async throws {
        try await ReceiptFixture.with { fixture in
            _ = try await fixture.upload()
            fixture.base.clock.advance(by: .seconds(3600))
            fixture.gateway.fail("1", with: .outOfReach)
            let again = try await fixture.upload()
            #expect(again.isQueued)
            #expect(try await fixture.kept(again).state == .confirmed)
            fixture.gateway.fail("1", with: nil)
            try await fixture.asking { try await fixture.pass(again) { $0.nextAttemptAt == nil } }
            #expect(try await fixture.events() == ["receipt.confirmed"])
        }
    }

    @Test func `one app's outage keeps no other app's receipts waiting`() async throws {
        let accounts = [[Transaction.sample(id: "1", account: "A", environment: .sandbox)]]
        try await ReceiptFixture.with(accounts: accounts) { fixture in
            for number in 0..<40 {
                fixture.gateway.fail("f\(number)", with: .outOfReach)
                _ = try await fixture.upload(.sample(.sample("f\(number)")), as: "r\(number)")
            }
            fixture.gateway.fail("1", with: .outOfReach)
            let content = ReceiptContent.sample(bundleID: "com.example.gems", environment: "Sandbox")
            let answer = try await fixture.upload(content, as: "other", among: [DeliveryFixture.otherApp])
            fixture.gateway.fail("1", with: nil)
            let id = try #require(answer.receipt?.id)
            fixture.base.clock.advance(by: .seconds(120))
            try await fixture.asking {
                try await Wait.until("the other app's receipt to be confirmed") {
                    try await fixture.store.receipt(app: "gems", id: id)?.state == .confirmed
                }
            }
        }
    }
}
