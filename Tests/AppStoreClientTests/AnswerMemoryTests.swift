import Domain
import Foundation
import Logging
import TestSupport
import Testing

@testable import AppStoreClient

/// What Apple answers about purchases is written behind the answers, within bounds.
struct AnswerMemoryTests {
    private let store = InMemoryAppleAnswers()
    private let metrics = CountingFactory()
    private let log = RecordedLog()

    private func memory(capacity: Int = 10, batch: Int = 4) -> AnswerMemory {
        AnswerMemory(
            store: store, capacity: capacity, batch: batch, clock: ServiceClock(now: { CaseModel.time(0) }),
            factory: metrics, logger: log.logger)
    }

    private func answer(
        _ id: String, signed: TimeInterval = 5000, status: SubscriptionStatus? = nil
    ) -> AppleAnswer {
        let transaction = Transaction.sample(id: id, signed: signed)
        return AppleAnswer(
            app: "coins", transaction: transaction,
            standing: status.map {
                AppleAnswer.Standing(
                    status: $0, subscriptionGroupIdentifier: "group",
                    renewalInfo: VerifiedData(payload: [], signed: "r"), signedDate: transaction.signedDate)
            })
    }

    @Test func `of each transaction the newest is written, with the newest status, once`() async throws {
        let memory = memory()
        memory.note(answer("1", signed: 5000, status: .active))
        memory.note(answer("1", signed: 7000))
        memory.note(answer("1", signed: 6000, status: .expired))
        #expect(store.writes.isEmpty, "no answer waits for the store")
        await memory.save()
        await memory.save()
        let written = try #require(store.writes.first?.first)
        #expect(store.writes.map(\.count) == [1])
        #expect(written.transaction.signedDate == Date(timeIntervalSince1970: 7000))
        #expect(written.standing?.status == .expired)
    }

    @Test func `a save writes a batch, and what finds no room is dropped and counted`() async {
        let memory = memory()
        for number in 0..<13 { memory.note(answer("\(number)")) }
        memory.note(answer("0", signed: 6000))
        #expect(metrics.count(of: "purser_answers_dropped") == 3)
        for _ in 0..<5 { await memory.save() }
        #expect(store.writes.map(\.count) == [4, 4, 2])
        #expect(Set(store.writes.flatMap(\.self).map(\.transaction.transactionID)).count == 10)
    }

    @Test func `what was noted before an erasure is forgotten, what comes after it is written`() async {
        let memory = memory()
        memory.note(answer("1"))
        store.erase()
        await memory.save()
        #expect(store.writes.isEmpty, "the store refuses it")
        memory.note(answer("2"))
        store.erase()
        memory.note(answer("3"))
        await memory.save()
        #expect(store.writes.flatMap(\.self).map(\.transaction.transactionID) == ["3"])
        #expect(metrics.count(of: "purser_answers_dropped") == 1)
    }

    @Test func `what cannot be written is dropped, and told`() async {
        let memory = memory()
        store.breakDown()
        for number in 0..<3 { memory.note(answer("\(number)")) }
        await memory.save()
        #expect(log.lines.map(\.message) == ["Answers of Apple's cannot be kept"])
        #expect(metrics.count(of: "purser_answers_dropped") == 3)
        await memory.save()
        #expect(log.lines.count == 1)
    }
}
