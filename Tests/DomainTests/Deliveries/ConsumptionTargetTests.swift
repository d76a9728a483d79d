import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// Which case an answer belongs to, and what a case allows.
@Suite(.endsHangs) struct ConsumptionTargetTests {
    private let purchase = Transaction.sample(id: "1", account: "A")
    private let second = Transaction.sample(id: "2", account: "A")

    @Test func `a user's one open case needs no transaction id, and its facts no question`() async throws {
        try await DeliveryFixture.with(accounts: [[purchase]]) { fixture in
            try await fixture.link("1", to: "alice")
            let refundCase = try await fixture.openCase(purchase, signedAt: fixture.now.addingTimeInterval(-3600))
            let delivery = try await fixture.send(.user(try UserID("alice"), transactionID: nil), wait: .seconds(5))
            #expect(delivery.state == .accepted && delivery.caseID == refundCase.id)
            #expect(delivery.transactionID == "1" && delivery.environment == .production)
            #expect(delivery.deadline == fixture.now.addingTimeInterval(11 * 3600))
            #expect(fixture.gateway.questions == [.consumption("1")])
            let answered = try await fixture.store.store.refundCase(app: "coins", id: refundCase.id)
            #expect(answered?.state == .answered)
        }
    }

    @Test func `without an open case, or with several, a user alone is not enough`() async throws {
        try await DeliveryFixture.with(accounts: [[purchase, second]], isDispatching: false) { fixture in
            let user = try UserID("alice")
            await #expect(throws: ServiceError(.noOpenCase, "")) {
                try await fixture.send(.user(user, transactionID: nil))
            }
            try await fixture.link("1", to: "alice")
            try await fixture.link("2", to: "alice")
            let cases = [try await fixture.openCase(purchase), try await fixture.openCase(second)]
            let failure = try await fixture.failure { try await fixture.send(.user(user, transactionID: nil)) }
            #expect(failure?.reason == .severalOpenCases && Set(failure?.cases.map(\.id) ?? []) == Set(cases.map(\.id)))
            #expect(try await fixture.send(.user(user, transactionID: "2")).caseID == cases[1].id)
        }
    }

    @Test func `an open case whose deadline has passed is none`() async throws {
        try await DeliveryFixture.with(accounts: [[purchase]], isDispatching: false) { fixture in
            try await fixture.link("1", to: "alice")
            let refundCase = try await fixture.openCase(purchase)
            fixture.advance(by: .seconds(12 * 3600))
            let user = try UserID("alice")
            await #expect(throws: ServiceError(.noOpenCase, "")) {
                try await fixture.send(.user(user, transactionID: nil))
            }
            for target in [ConsumptionService.Target.transaction("1"), .refundCase(refundCase.id)] {
                let failure = try await fixture.failure { try await fixture.send(target) }
                #expect(failure?.reason == .caseClosed && failure?.cases.map(\.id) == [refundCase.id])
            }
        }
    }

    @Test func `a case is found by its id, and names its owner`() async throws {
        try await DeliveryFixture.with(accounts: [[purchase]], isDispatching: false) { fixture in
            try await fixture.link("1", to: "alice")
            let refundCase = try await fixture.openCase(purchase)
            let delivery = try await fixture.send(.refundCase(refundCase.id), environment: .production)
            #expect(delivery.user?.value == "alice" && delivery.caseID == refundCase.id)
            await #expect(throws: ServiceError(.invalidRequest, "")) {
                try await fixture.send(.refundCase(refundCase.id), environment: .sandbox)
            }
            await #expect(throws: ServiceError(.caseNotFound, "")) { try await fixture.send(.refundCase("none")) }
        }
    }

    @Test func `the case's purchase decides by which rules an answer is checked`() async throws {
        let purchase = Transaction.sample(id: "1", isFamilyShared: true)
        try await DeliveryFixture.with(accounts: [[purchase]], isDispatching: false) { fixture in
            _ = try await fixture.openCase(purchase)
            let failure = try await fixture.failure { try await fixture.send() }
            #expect(failure?.violations.map(\.rule) == ["familyShared"])
        }
    }

    @Test func `a decided case takes no answers, but shows the one that it took before`() async throws {
        try await DeliveryFixture.with(accounts: [[purchase]]) { fixture in
            let refundCase = try await fixture.openCase(purchase)
            let accepted = try await fixture.send(wait: .seconds(5))
            try await fixture.notify("REFUND_DECLINED", purchase, signedAt: fixture.now.addingTimeInterval(60))
            #expect(try await fixture.send(wait: .seconds(5)).id == accepted.id)
            let failure = try await fixture.failure { try await fixture.send(answer: DeliveryFixture.answer(5)) }
            #expect(failure?.reason == .caseClosed && failure?.cases.map(\.id) == [refundCase.id])
        }
    }

    @Test func `within a case the same answer is the same delivery, and another one must wait`() async throws {
        try await DeliveryFixture.with(accounts: [[purchase]], isDispatching: false) { fixture in
            _ = try await fixture.openCase(purchase)
            let first = try await fixture.send()
            #expect(try await fixture.send().id == first.id)
            let failure = try await fixture.failure { try await fixture.send(answer: DeliveryFixture.answer(5)) }
            #expect(failure?.reason == .deliveryUnderWay && failure?.delivery?.id == first.id)
        }
    }

    @Test func `an answered case takes a second answer`() async throws {
        try await DeliveryFixture.with(accounts: [[purchase]]) { fixture in
            _ = try await fixture.openCase(purchase)
            let first = try await fixture.send(wait: .seconds(5))
            let second = try await fixture.send(answer: DeliveryFixture.answer(5), wait: .seconds(5))
            #expect(second.id != first.id && second.state == .accepted)
        }
    }

    @Test func `a given deadline shortens the case's and cannot outlast it`() async throws {
        try await DeliveryFixture.with(accounts: [[purchase]], isDispatching: false) { fixture in
            _ = try await fixture.openCase(purchase, signedAt: fixture.now.addingTimeInterval(-6 * 3600))
            let end = fixture.now.addingTimeInterval(6 * 3600)
            await #expect(throws: ServiceError(.invalidRequest, "")) {
                try await fixture.send(deadline: end.addingTimeInterval(0.001))
            }
            let last = try await fixture.send(deadline: end)
            #expect(last.deadline == end)
        }
    }

    @Test func `a user who does not own the case's purchase is refused`() async throws {
        try await DeliveryFixture.with(accounts: [[purchase]], isDispatching: false) { fixture in
            try await fixture.link("1", to: "bob")
            _ = try await fixture.openCase(purchase)
            let user = try UserID("alice")
            await #expect(throws: ServiceError(.ownedByAnotherUser, "")) {
                try await fixture.send(.user(user, transactionID: "1"))
            }
        }
    }
}
