import Domain
import Foundation
import Testing

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
            try await store.queue(.sample("2", transaction: "7", body: "[2]", deadline: 2))
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
        DeliveryStoreContract("lanes are skipped by app and environment, known or not") { store in
            for (app, environment) in [
                ("coins", .production), ("coins", .sandbox), ("coins", nil), ("gems", .production),
            ] as [(String, AppStoreEnvironment?)] {
                let id = "\(app) \(environment?.rawValue ?? "unknown")"
                try await store.queue(.sample(id, transaction: id, environment: environment, app: app))
            }
            let lanes: Set = [
                AppEnvironment(app: "coins", environment: .production), AppEnvironment(app: "coins", environment: nil),
            ]
            #expect(try await store.claim(at: 0, skipping: lanes).map(\.id) == ["coins Sandbox", "gems Production"])
            #expect(try await store.claim(at: 0).map(\.id) == ["coins Production", "coins unknown"])
        },
        DeliveryStoreContract("a look behind a position goes on there") { store in
            for number in 1...4 { try await store.queue(.sample("\(number)", transaction: "\(number)")) }
            let behind = DeliveryClaim.Position(deadline: CaseModel.time(12), id: "2")
            let claim = DeliveryClaim(
                worker: "worker", now: CaseModel.time(0), leaseUntil: CaseModel.time(1), limit: 10, after: behind)
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
}
