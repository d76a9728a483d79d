import Domain
import Foundation
import Testing

extension DeliveryStoreContract {
    static let dating: [DeliveryStoreContract] = [
        DeliveryStoreContract("what a wrong clock put off is due now, a bounded number at a time") { store in
            for number in 1...3 { try await store.queue(.sample("\(number)", transaction: "\(number)", due: 5)) }
            try await store.queue(.sample("4", transaction: "4", due: 0.5))
            let (now, latest) = (CaseModel.time(0), CaseModel.time(1))
            #expect(try await store.hastenDeliveries(after: latest, at: now, limit: 2) == 2)
            #expect(try await store.claim(at: 0).count == 2)
            #expect(try await store.hastenDeliveries(after: latest, at: now, limit: 2) == 1)
            #expect(try await store.claim(at: 0).count == 1)
            #expect(try await store.hastenDeliveries(after: latest, at: now, limit: 2) == 0)
            #expect(try await store.delivery(app: "coins", id: "4")?.nextAttemptAt == CaseModel.time(0.5))
        },
        DeliveryStoreContract("a delivery is dated anew with its own deadline, not with one that somebody else set") {
            store in
            try await store.queue(.sample("own", transaction: "1", at: 1, due: 2, deadline: 13))
            try await store.queue(.sample("given", transaction: "2", at: 1, due: 2, deadline: 5))
            try await store.queue(.sample("other", transaction: "3", at: 1, due: 2, deadline: 13))
            let shifts = ["own", "given"].map { DeliveryTimeShift(app: "coins", id: $0, by: .seconds(-3600)) }
            try await store.moveDeliveries(shifts, at: CaseModel.time(0))
            let own = try #require(try await store.delivery(app: "coins", id: "own"))
            #expect(own.createdAt == CaseModel.time(0) && own.deadline == CaseModel.time(12))
            let given = try #require(try await store.delivery(app: "coins", id: "given"))
            #expect(given.createdAt == CaseModel.time(0) && given.deadline == CaseModel.time(5))
            // What a clock that was behind has cut.
            let cut = try await store.queue(.sample("cut", transaction: "5", at: -5, deadline: 10))
            #expect(cut.deadline == CaseModel.time(7))
            try await store.moveDeliveries(
                [DeliveryTimeShift(app: "coins", id: "cut", by: .seconds(5 * 3600))], at: CaseModel.time(0))
            let mended = try #require(try await store.delivery(app: "coins", id: "cut"))
            #expect(mended.createdAt == CaseModel.time(0) && mended.deadline == CaseModel.time(10))
            try await store.take(.sample("c", at: 1, transaction: .sample(id: "4")))
            try await store.queue(.sample("cased", caseID: "case-c", transaction: "4", at: 1, due: 2, deadline: 13))
            try await store.moveDeliveries(
                [DeliveryTimeShift(app: "coins", id: "cased", by: .seconds(-3600))], at: CaseModel.time(0))
            let cased = try #require(try await store.delivery(app: "coins", id: "cased"))
            #expect(cased.createdAt == CaseModel.time(1) && cased.deadline == CaseModel.time(13))
            let other = try #require(try await store.delivery(app: "coins", id: "other"))
            #expect(other.createdAt == CaseModel.time(1) && other.deadline == CaseModel.time(13))
            #expect(try await store.claim(at: 0).map(\.id).sorted() == ["cased", "cut", "given", "own"])
            #expect(try await store.nextDeliveryEvent(after: CaseModel.time(0)) == CaseModel.time(2))
        },
        DeliveryStoreContract("what has ended keeps its dates, and so does another app's") { store in
            try await store.queue(.sample("1", transaction: "1"))
            try await store.claim(at: 0)
            let ended = try await store.conclude("1", .accepted, at: 1)
            let shifts = ["coins", "gems"].map { DeliveryTimeShift(app: $0, id: "1", by: .seconds(3600)) }
            try await store.moveDeliveries(shifts, at: CaseModel.time(2))
            #expect(try await store.delivery(app: "coins", id: "1") == ended)
        },
    ]
}
