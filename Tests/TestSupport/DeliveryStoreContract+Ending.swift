import Domain
import Foundation
import Testing

// What a restart, a deadline and a caller end, and what lists show of it.

extension DeliveryStoreContract {
    static let recovering: [DeliveryStoreContract] = [
        DeliveryStoreContract("what a worker that is no more had claimed is given back, once") { store in
            try await store.queue(.sample("1", transaction: "1"))
            try await store.queue(.sample("2", transaction: "2"))
            try await store.claim(at: 0, worker: "before")
            #expect(try await store.recoverDeliveries(worker: "now", at: CaseModel.time(0.5)) == 2)
            #expect(try await store.recoverDeliveries(worker: "now", at: CaseModel.time(0.5)) == 0)
            let again = try await store.claim(at: 0.5, worker: "now")
            #expect(again.map(\.id) == ["1", "2"])
            #expect(again.allSatisfy { $0.attempts == [.interrupted(startedAt: CaseModel.time(0))] })
            #expect(again.allSatisfy { $0.attemptCount == 1 && $0.mayHaveReachedApple })
            #expect(try await store.conclude("1", .accepted, at: 1, worker: "before") == nil, "its claim is lost")
            #expect(try await store.conclude("1", .accepted, at: 1, worker: "now")?.state == .accepted)
        },
        DeliveryStoreContract("a lease holds until its end, and then its claim is lost") { store in
            try await store.queue(.sample("1"))
            try await store.claim(at: 0, lease: 1)
            #expect(try await store.recoverDeliveries(worker: "worker", at: CaseModel.time(0.99)) == 0)
            #expect(try await store.recoverDeliveries(worker: "worker", at: CaseModel.time(1)) == 1)
            let failure = DeliveryFailure(reason: .appleUnavailable, message: "Nobody answers.")
            for outcome in [DeliveryConclusion.Outcome.retry(at: CaseModel.time(2), failure), .refused(failure)] {
                #expect(try await store.conclude("1", outcome, at: 1) == nil)
            }
            #expect(try await store.delivery(app: "coins", id: "1")?.state == .queued)
        },
        DeliveryStoreContract("what Apple accepted under a lease that is over is not sent again") { store in
            try await store.queue(.sample("1"))
            try await store.claim(at: 0, worker: "stopped", lease: 1)
            #expect(try await store.recoverDeliveries(worker: "other", at: CaseModel.time(1)) == 1)
            let late = try #require(try await store.conclude("1", .accepted, at: 1, worker: "stopped"))
            #expect(late.state == .accepted && !late.mayHaveReachedApple)
            #expect(try await store.claim(at: 2, worker: "other").isEmpty)
            #expect(try await store.events(after: 0, limit: 9).map(\.kind) == [.deliveryQueued, .deliveryAccepted])
            #expect(try await store.conclude("1", .accepted, at: 3, worker: "stopped") == nil)
        },
        DeliveryStoreContract("what was to be cancelled is not given back to be sent") { store in
            try await store.queue(.sample("1"))
            try await store.claim(at: 0, worker: "before")
            _ = try await store.cancelDelivery(app: "coins", id: "1", because: .sample, at: CaseModel.time(0))
            #expect(try await store.recoverDeliveries(worker: "now", at: CaseModel.time(1)) == 1)
            let ended = try #require(try await store.delivery(app: "coins", id: "1"))
            #expect(ended.state == .cancelled && ended.failure == .sample && ended.mayHaveReachedApple)
            #expect(try await store.events(after: 0, limit: 9).map(\.kind) == [.deliveryQueued, .deliveryCancelled])
        },
        DeliveryStoreContract("deadlines end what is queued, soonest first, some at a time") { store in
            for number in 1...4 {
                // Some wait for an attempt that would come too late.
                try await store.queue(
                    .sample(
                        "\(number)", transaction: "\(number)", due: number % 2 == 0 ? 9 : 0, deadline: Double(number)))
            }
            #expect(try await store.expireDeliveries(at: CaseModel.time(0.99), limit: 10).isEmpty)
            let ended = try await store.expireDeliveries(at: CaseModel.time(3), limit: 2)
            #expect(ended.map(\.id) == ["1", "2"])
            #expect(ended.map(\.state) == [.expired, .expired])
            #expect(ended.map(\.failure?.reason) == [.deadlineExceeded, .deadlineExceeded])
            #expect(ended.map(\.endedAt) == [CaseModel.time(3), CaseModel.time(3)])
            #expect(try await store.expireDeliveries(at: CaseModel.time(3), limit: 2).map(\.id) == ["3"])
            let told = try await store.events(after: 0, limit: 100).filter { $0.kind == .deliveryExpired }
            #expect(told.map(\.subject) == ["1", "2", "3"])
        },
        DeliveryStoreContract("what is being sent expires when its lease is over, and Apple may have it") { store in
            try await store.queue(.sample("1", transaction: "1", deadline: 1))
            try await store.queue(.sample("2", transaction: "2", deadline: 1))
            try await store.claim(at: 0.5, lease: 1)
            _ = try await store.cancelDelivery(app: "coins", id: "2", because: .sample, at: CaseModel.time(0.6))
            #expect(try await store.expireDeliveries(at: CaseModel.time(1.4), limit: 10).isEmpty)
            let ended = try await store.expireDeliveries(at: CaseModel.time(1.5), limit: 10)
            #expect(ended.map(\.state) == [.expired, .cancelled])
            #expect(ended.map(\.mayHaveReachedApple) == [true, true])
            #expect(ended.map(\.attempts) == Array(repeating: [.interrupted(startedAt: CaseModel.time(0.5))], count: 2))
            #expect(try await store.conclude("1", .accepted, at: 2) == nil)
        },
    ]

    static let ending: [DeliveryStoreContract] = [
        DeliveryStoreContract("what is queued is cancelled at once, whether it is due or waits") { store in
            try await store.queue(.sample("1", transaction: "1"))
            try await store.queue(.sample("2", transaction: "2", due: 5))
            for id in ["1", "2"] {
                let (delivery, isChanged) = try #require(
                    try await store.cancelDelivery(app: "coins", id: id, because: .sample, at: CaseModel.time(1)))
                #expect(isChanged && delivery.state == .cancelled && delivery.failure == .sample)
                #expect(delivery.endedAt == CaseModel.time(1))
                #expect(try await store.delivery(app: "coins", id: id) == delivery)
            }
            #expect(try await store.claim(at: 6).isEmpty)
            let told = try await store.events(after: 0, limit: 9).map(\.kind)
            #expect(told == [.deliveryQueued, .deliveryQueued, .deliveryCancelled, .deliveryCancelled])
        },
        DeliveryStoreContract("what is being sent is cancelled instead of being repeated, for the first reason") {
            store in
            try await store.queue(.sample("1"))
            try await store.claim(at: 0)
            let (first, isChanged) = try #require(
                try await store.cancelDelivery(app: "coins", id: "1", because: .sample, at: CaseModel.time(1)))
            #expect(isChanged && first.state == .sending)
            let other = DeliveryFailure(reason: .deliveryEnded, message: "Again.")
            let again = try await store.cancelDelivery(app: "coins", id: "1", because: other, at: CaseModel.time(2))
            #expect(again?.isChanged == false)
            let ended = try await store.conclude("1", .retry(at: CaseModel.time(3), other), at: 2)
            #expect(ended?.state == .cancelled && ended?.failure == .sample)
        },
        DeliveryStoreContract("Apple may be quicker than a cancellation") { store in
            try await store.queue(.sample("1"))
            try await store.claim(at: 0)
            _ = try await store.cancelDelivery(app: "coins", id: "1", because: .sample, at: CaseModel.time(1))
            let ended = try #require(try await store.conclude("1", .accepted, at: 2))
            #expect(ended.state == .accepted && ended.failure == nil)
            let late = try await store.cancelDelivery(app: "coins", id: "1", because: .sample, at: CaseModel.time(3))
            #expect(late?.isChanged == false && late?.delivery == ended)
        },
        DeliveryStoreContract("what is not there cannot be cancelled") { store in
            try await store.queue(.sample("1"))
            let other = try await store.cancelDelivery(app: "gems", id: "1", because: .sample, at: CaseModel.time(1))
            #expect(other == nil)
            #expect(try await store.claim(at: 0).count == 1)
        },
    ]

    static let listing: [DeliveryStoreContract] = [
        DeliveryStoreContract("a list has the newest first, and each filter leaves out the rest") { store in
            try await store.take(.sample("a", transaction: .sample(id: "1")))
            try await store.queue(.sample("1", caseID: "case-a", transaction: "1"))
            try await store.queue(.sample("2", transaction: "2", user: "bob", environment: .sandbox, at: 1))
            try await store.queue(.sample("4", transaction: "1", user: "bob\u{0}", app: "gems"))
            try await store.claim(at: 2)
            _ = try await store.conclude("2", .accepted, at: 2)
            try await store.queue(
                .sample("3", transaction: "2", user: "bob", environment: nil, body: "[3]", at: 2, due: 9))
            try await expect(store, ["3", "2", "1"]) { _ in }
            try await expect(store, ["3", "2"]) { $0.limit = 2 }
            try await expect(store, ["2", "1"]) { $0.before = "3" }
            try await expect(store, ["2"]) { $0.states = [.accepted] }
            try await expect(store, ["1"]) { $0.states = [.sending] }
            try await expect(store, ["3"]) { $0.states = [.queued] }
            try await expect(store, []) { $0.states = [.refused] }
            try await expect(store, ["3", "1"]) { $0.states = [.queued, .sending] }
            try await expect(store, ["3", "2"]) { $0.user = try UserID("bob") }
            try await expect(store, ["2"]) { ($0.user, $0.states) = (try UserID("bob"), [.accepted]) }
            try await expect(store, ["3", "2"]) { $0.transactionID = "2" }
            try await expect(store, ["1"]) { $0.caseID = "case-a" }
            try await expect(store, []) { ($0.caseID, $0.transactionID) = ("case-a", "2") }
            try await expect(store, ["2"]) { $0.environment = .sandbox }
            try await expect(store, ["3", "2"]) { $0.since = CaseModel.time(1) }
            try await expect(store, []) { $0.since = CaseModel.time(2.5) }
        },
        DeliveryStoreContract("pages hang together while deliveries come and end") { store in
            for number in 100..<125 {
                try await store.queue(.sample("\(number)", transaction: "\(number)", user: "bob"))
            }
            for (round, user) in [nil, try UserID("bob")].enumerated() {
                var query = DeliveryQuery(limit: 10)
                query.user = user
                var found: [String] = []
                while true {
                    let page = try await store.deliveries(app: "coins", query)
                    guard let last = page.last else { break }
                    found += page.map(\.id)
                    query.before = last.id
                    let later = "later \(round) \(found.count)"
                    try await store.queue(.sample(later, transaction: later, user: "bob"))
                    _ = try await store.cancelDelivery(
                        app: "coins", id: last.id, because: .sample, at: CaseModel.time(1))
                }
                #expect(found.filter { !$0.hasPrefix("later") } == (100..<125).reversed().map(String.init))
                #expect(Set(found).count == found.count)
            }
        },
        DeliveryStoreContract("the backlog counts what is under way, and nothing that has ended") { store in
            #expect(try await store.deliveryBacklog() == [])
            for number in 1...4 {
                try await store.queue(
                    .sample("\(number)", transaction: "\(number)", at: Double(number), deadline: Double(12 - number)))
            }
            try await store.queue(.sample("5", app: "gems"))
            #expect(try await store.claim(at: 4, limit: 2).map(\.id) == ["4", "3"])
            _ = try await store.conclude("4", .accepted, at: 5)
            let backlog = Set(try await store.deliveryBacklog())
            #expect(
                backlog == [
                    DeliveryBacklog(
                        app: "coins", state: .queued, count: 2, oldestCreatedAt: CaseModel.time(1)),
                    DeliveryBacklog(
                        app: "coins", state: .sending, count: 1, oldestCreatedAt: CaseModel.time(3)),
                    DeliveryBacklog(
                        app: "gems", state: .queued, count: 1, oldestCreatedAt: CaseModel.time(0)),
                ])
        },
    ]

    private static func expect(
        _ store: any Store, _ ids: [String], sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout DeliveryQuery) throws -> Void
    ) async throws {
        var query = DeliveryQuery()
        try change(&query)
        let found = try await store.deliveries(app: "coins", query).map(\.id)
        #expect(found == ids, sourceLocation: sourceLocation)
    }
}
