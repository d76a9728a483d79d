import Domain
import Foundation
import Testing

// What is claimed for an attempt, and what becomes of the delivery after it.

extension DeliveryStoreContract {
    static let claiming: [DeliveryStoreContract] = [
        DeliveryStoreContract("what is due is claimed by deadline, then by age, and only once") { store in
            for (id, deadline) in [("1", 9.0), ("2", 8), ("3", 9), ("4", 7)] {
                try await store.queue(.sample(id, transaction: id, deadline: deadline))
            }
            #expect(try await store.claim(at: 0, limit: 3).map(\.id) == ["4", "2", "1"])
            let last = try await store.claim(at: 0)
            #expect(last.map(\.id) == ["3"])
            #expect(last.map(\.state) == [.sending])
            #expect(try await store.claim(at: 0).isEmpty)
            #expect(try await store.delivery(app: "coins", id: "3") == last[0])
        },
        DeliveryStoreContract("nothing is claimed before its time, or at its deadline") { store in
            try await store.queue(.sample("1", due: 1, deadline: 5))
            #expect(try await store.claim(at: 0.99).isEmpty)
            #expect(try await store.claim(at: 5).isEmpty)
            #expect(try await store.claim(at: 4.99).map(\.id) == ["1"])
        },
        DeliveryStoreContract("of one transaction at most one is being sent") { store in
            try await store.queue(.sample("1", transaction: "7", body: "[1]", deadline: 3))
            try await store.queue(.sample("2", transaction: "7", environment: .sandbox, deadline: 2))
            try await store.queue(.sample("3", transaction: "7", app: "gems"))
            #expect(try await store.claim(at: 0).map(\.id) == ["2", "3"])
            #expect(try await store.claim(at: 0).isEmpty)
            _ = try await store.conclude("2", .retry(at: CaseModel.time(1), .sample), at: 0)
            #expect(try await store.claim(at: 0).map(\.id) == ["1"])
            #expect(try await store.claim(at: 1).isEmpty)
        },
        DeliveryStoreContract("many workers that claim at once never get the same delivery") { store in
            for number in 0..<60 { try await store.queue(.sample("d\(number)", transaction: "\(number)")) }
            let claimed = try await withThrowingTaskGroup(of: [Delivery].self) { group in
                for worker in 0..<20 {
                    group.addTask { try await store.claim(at: 0, limit: 5, worker: "worker \(worker)") }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claimed.count == 60)
            #expect(Set(claimed.map(\.id)).count == 60)
        },
        DeliveryStoreContract("appEnvironments are skipped by app and environment, known or not") { store in
            for (app, environment) in [
                ("coins", .production), ("coins", .sandbox), ("coins", nil), ("gems", .production),
            ] as [(String, AppStoreEnvironment?)] {
                let id = "\(app) \(environment?.rawValue ?? "unknown")"
                try await store.queue(.sample(id, transaction: id, environment: environment, app: app))
            }
            let appEnvironments: Set = [
                AppEnvironment(app: "coins", environment: .production), AppEnvironment(app: "coins", environment: nil),
            ]
            #expect(
                try await store.claim(at: 0, skipping: appEnvironments).map(\.id) == [
                    "coins Sandbox", "gems Production",
                ])
            #expect(try await store.claim(at: 0).map(\.id) == ["coins Production", "coins unknown"])
        },
        DeliveryStoreContract("a look behind a position goes on there") { store in
            for number in 1...4 { try await store.queue(.sample("\(number)", transaction: "\(number)")) }
            let behind = DeliveryClaim.Position(deadline: CaseModel.time(12), id: "2")
            let claim = DeliveryClaim(
                worker: "worker", now: CaseModel.time(0), lease: .seconds(3600), limit: 10, after: behind)
            let result = try await store.claimDeliveries(claim)
            #expect(result.deliveries.map(\.id) == ["3", "4"])
            #expect(result.next == nil)
        },
        DeliveryStoreContract("the next event is the next attempt or the next deadline, whichever comes first") {
            store in
            #expect(try await store.nextDeliveryEvent(after: CaseModel.time(0)) == nil)
            try await store.queue(.sample("1", transaction: "1", due: 2, deadline: 6))
            #expect(try await store.nextDeliveryEvent(after: CaseModel.time(0)) == CaseModel.time(2))
            #expect(try await store.nextDeliveryEvent(after: CaseModel.time(2)) == CaseModel.time(6))
            try await store.queue(.sample("2", transaction: "2", deadline: 1))
            #expect(try await store.nextDeliveryEvent(after: CaseModel.time(0)) == CaseModel.time(1))
            #expect(try await store.claim(at: 0).map(\.id) == ["2"])
            #expect(try await store.nextDeliveryEvent(after: CaseModel.time(0)) == CaseModel.time(2))
            // An attempt behind the deadline is never made.
            _ = try await store.conclude("2", .retry(at: CaseModel.time(5), .sample), at: 0)
            #expect(try await store.nextDeliveryEvent(after: CaseModel.time(0)) == CaseModel.time(1))
            _ = try await store.expireDeliveries(at: CaseModel.time(6), limit: 10)
            #expect(try await store.nextDeliveryEvent(after: CaseModel.time(0)) == nil)
        },
    ]

    static let concluding: [DeliveryStoreContract] = [
        DeliveryStoreContract("each outcome leads to its state, keeps the attempts and is told once") { store in
            let outcomes: [(DeliveryConclusion.Outcome, Delivery.State, ServiceEvent.Kind, DeliveryFailure?)] = [
                (.accepted, .accepted, .deliveryAccepted, nil),
                (.refused(.sample), .refused, .deliveryRefused, .sample),
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
            #expect(try await store.events(after: 0, limit: 100).count == 6)
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
