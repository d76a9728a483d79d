import Domain
import Foundation
import Testing

extension DeliveryStoreContract {
    static let listing: [DeliveryStoreContract] = [
        DeliveryStoreContract("a list has the newest first, and each filter leaves out the rest") { store in
            try await store.take(.sample("a", transaction: .sample(id: "1")))
            try await store.queue(.sample("1", caseID: "case-a", transaction: "1"))
            try await store.queue(.sample("2", transaction: "2", user: "bob", environment: .sandbox, at: 1))
            try await store.queue(.sample("3", transaction: "2", user: "bob", environment: nil, at: 2, due: 9))
            try await store.queue(.sample("4", transaction: "1", user: "bob\u{0}", app: "gems"))
            try await store.claim(at: 2)
            _ = try await store.conclude("2", .accepted, at: 2)
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
                        app: "coins", state: .queued, count: 2, oldestCreatedAt: CaseModel.time(1),
                        nearestDeadline: CaseModel.time(10)),
                    DeliveryBacklog(
                        app: "coins", state: .sending, count: 1, oldestCreatedAt: CaseModel.time(3),
                        nearestDeadline: CaseModel.time(9)),
                    DeliveryBacklog(
                        app: "gems", state: .queued, count: 1, oldestCreatedAt: CaseModel.time(0),
                        nearestDeadline: CaseModel.time(12)),
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
