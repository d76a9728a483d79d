import Domain
import Foundation
import Testing

extension DeliveryStoreContract {
    static let concluding: [DeliveryStoreContract] = [
        DeliveryStoreContract("each outcome leads to its state, keeps the attempts and is told once") { store in
            let outcomes: [(DeliveryConclusion.Outcome, Delivery.State, ServiceEvent.Kind, DeliveryFailure?)] = [
                (.accepted, .accepted, .deliveryAccepted, nil),
                (.refused(.sample), .refused, .deliveryRefused, .sample),
                (.expired(.sample), .expired, .deliveryExpired, .sample),
                (.cancelled(.sample), .cancelled, .deliveryCancelled, .sample),
            ]
            for (number, (outcome, state, kind, failure)) in outcomes.enumerated() {
                let id = "\(number)"
                let queued = try await store.queue(.sample(id, transaction: id))
                try await store.claim(at: 0)
                let attempts = [DeliveryAttempt.sample(at: 1), .interrupted(startedAt: CaseModel.time(2))]
                let ended = try await store.conclude(
                    id, outcome, at: 3, attempts: attempts, mayHaveReachedApple: state != .accepted)
                var expected = queued
                expected.state = state
                expected.nextAttemptAt = nil
                expected.attempts = attempts
                expected.attemptCount = 2
                expected.mayHaveReachedApple = state != .accepted
                expected.failure = failure
                expected.endedAt = CaseModel.time(3)
                #expect(ended == expected)
                #expect(try await store.delivery(app: "coins", id: id) == expected)
                let last = try #require(try await store.events(after: 0, limit: 100).last)
                #expect(last.kind == kind && last.subject == id && last.at == CaseModel.time(3))
                #expect(last.detail == failure?.reason.rawValue)
                #expect(try await store.conclude(id, .accepted, at: 4) == nil, "the claim is over")
            }
            #expect(try await store.events(after: 0, limit: 100).count == 8)
        },
        DeliveryStoreContract("an attempt that is to be repeated queues it again, as it was and with what went wrong") {
            store in
            let queued = try await store.queue(.sample("1"))
            try await store.claim(at: 0)
            _ = try await store.conclude(
                "1", .retry(at: CaseModel.time(2), .sample), at: 1, attempts: [.sample(at: 0)],
                mayHaveReachedApple: true)
            #expect(try await store.claim(at: 1.99).isEmpty)
            let again = try #require(try await store.claim(at: 2).first)
            #expect(again.body == queued.body)
            #expect(again.failure == .sample)
            #expect(again.attempts == [.sample(at: 0)])
            #expect(again.mayHaveReachedApple)
            let accepted = try #require(try await store.conclude("1", .accepted, at: 3, attempts: [.sample(at: 2)]))
            #expect(accepted.attempts == [.sample(at: 0), .sample(at: 2)])
            #expect(accepted.attemptCount == 2)
            #expect(accepted.failure == nil && !accepted.mayHaveReachedApple)
            #expect(try await store.events(after: 0, limit: 10).map(\.kind) == [.deliveryQueued, .deliveryAccepted])
        },
        DeliveryStoreContract("what an attempt found out of the purchase is kept") { store in
            let facts = Transaction.sample(
                id: "1000", original: "999", account: "704", token: "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
                environment: .sandbox
            ).facts
            try await store.queue(.sample("1", environment: nil))
            try await store.claim(at: 0)
            _ = try await store.conclude("1", .retry(at: CaseModel.time(1), .sample), at: 0, purchase: facts)
            let learnt = try #require(try await store.claim(at: 1).first)
            #expect(learnt.purchase == facts && learnt.environment == .sandbox)
            _ = try await store.conclude("1", .retry(at: CaseModel.time(1), .sample), at: 1)
            #expect(try await store.delivery(app: "coins", id: "1")?.purchase == facts)
        },
        DeliveryStoreContract("Apple's acceptance answers the case, unless it is not open any more") { store in
            try await store.take(.sample("a"), .sample("b", transaction: .sample(id: "2")))
            try await store.queue(.sample("1", caseID: "case-a"))
            try await store.queue(.sample("2", caseID: "case-b", transaction: "2"))
            try await store.claim(at: 0)
            try await store.take(.sample("d", type: "REFUND", at: 1, transaction: .sample(id: "2")))
            for id in ["1", "2"] { _ = try await store.conclude(id, .accepted, at: 2) }
            #expect(try await store.refundCase(app: "coins", id: "case-a")?.state == .answered)
            #expect(try await store.refundCase(app: "coins", id: "case-b")?.state == .decided)
            let answered = try await store.events(after: 0, limit: 100).filter { $0.kind == .caseAnswered }
            #expect(answered.map(\.subject) == ["case-a"])
        },
        DeliveryStoreContract("a claim that is somebody else's, or of nothing, concludes nothing") { store in
            try await store.queue(.sample("1"))
            #expect(try await store.conclude("1", .accepted, at: 0) == nil, "not claimed")
            try await store.claim(at: 0)
            #expect(try await store.conclude("1", .accepted, at: 0, worker: "other") == nil)
            #expect(try await store.conclude("unknown", .accepted, at: 0) == nil)
            #expect(try await store.delivery(app: "coins", id: "1")?.state == .sending)
        },
    ]
}
