import Domain
import Foundation
import Testing

// How cases end, and what lists show of them.

extension CaseStoreContract {
    static let ending: [CaseStoreContract] = [
        CaseStoreContract("a decline is kept, told once, and stays when Apple reminds") { store in
            try await store.take(.sample("a"))
            let decline = RefundCase.Decline(caller: "shop", note: "never\u{0}asked", at: CaseModel.time(1))
            let first = try #require(try await store.decline(app: "coins", id: "case-a", decline))
            #expect(first.ended == .none)
            guard case .declined(let declined) = first.result else {
                Issue.record("not declined")
                return
            }
            #expect(declined.state == .declined && declined.decline == decline)
            let again = RefundCase.Decline(caller: "other", note: nil, at: CaseModel.time(2))
            #expect(
                try await store.decline(app: "coins", id: "case-a", again)?.result == .declined(declined))
            try await store.take(.sample("b", at: 3))
            let reminded = try await store.refundCase(app: "coins", id: "case-a")
            #expect(reminded?.state == .declined && reminded?.decline == decline)
            #expect(reminded?.deadline == declined.deadline && reminded?.requests.count == 2)
            #expect(try await kinds(store).filter { $0 == .caseDeclined }.count == 1)
            try await store.take(.sample("d", type: "REFUND", at: 4))
            #expect(try await store.refundCase(app: "coins", id: "case-a")?.decline == decline)
        },
        CaseStoreContract("what is over, or not there, cannot be declined") { store in
            let decline = CaseModel.declined(at: 20)
            #expect(try await store.decline(app: "coins", id: "case-a", decline)?.result == nil)
            try await store.take(.sample("a"))
            #expect(try await store.decline(app: "gems", id: "case-a", decline)?.result == nil)
            let expired = try await store.expireCases(at: CaseModel.time(12), limit: 10)
            #expect(expired.map(\.state) == [.expired])
            #expect(try await store.decline(app: "coins", id: "case-a", decline)?.result == .closed(expired[0]))
        },
        CaseStoreContract("cases expire at their deadline, soonest first, some at a time") { store in
            for number in 1...5 {
                try await store.take(.sample("\(number)", at: Double(number), transaction: .sample(id: "\(number)")))
            }
            _ = try await store.decline(app: "coins", id: "case-1", CaseModel.declined(at: 6))
            #expect(try await store.expireCases(at: CaseModel.time(13.99), limit: 10).isEmpty)
            #expect(try await store.expireCases(at: CaseModel.time(16), limit: 2).map(\.id) == ["case-2", "case-3"])
            #expect(try await store.expireCases(at: CaseModel.time(16), limit: 2).map(\.id) == ["case-4"])
            #expect(try await store.expireCases(at: CaseModel.time(16), limit: 2).isEmpty)
            #expect(try await kinds(store).filter { $0 == .caseExpired }.count == 3)
        },
        CaseStoreContract("a decision and a decline cancel what is queued") { store in
            for uuid in ["decided", "declined"] {
                try await store.take(.sample(uuid, transaction: .sample(id: uuid)))
                try await queue(store, "delivery-\(uuid)", caseID: "case-\(uuid)", transaction: uuid)
            }
            let declined = try await store.decline(app: "coins", id: "case-declined", CaseModel.declined(at: 1))
            #expect(declined?.ended.cancelled.map(\.id) == ["delivery-declined"])
            #expect(declined?.ended.sending == [])
            try await store.take(.sample("d", type: "REFUND", at: 2, transaction: .sample(id: "decided")))
            for uuid in ["decided", "declined"] {
                let delivery = try #require(try await store.delivery(app: "coins", id: "delivery-\(uuid)"))
                #expect(delivery.state == .cancelled && delivery.failure?.reason == .caseClosed)
            }
            #expect(try await kinds(store).filter { $0 == .deliveryCancelled }.count == 2)
        },
        CaseStoreContract("a decision that separates requests leaves the answer under way") { store in
            try await store.take(.sample("late", at: 6), .sample("first", at: 0, received: 6))
            _ = try await store.accept(.sample("old", caseID: "case-late", at: 0, deadline: 9))
            _ = try await store.cancelDelivery(app: "coins", id: "old", because: .sample, at: CaseModel.time(6))
            _ = try await store.accept(.sample("delivery", caseID: "case-late", at: 6.5))
            guard
                case .separate? = try await store.take(.sample("d", type: "REFUND_DECLINED", at: 3, received: 7)).first
            else {
                Issue.record("not separated")
                return
            }
            #expect(try await store.delivery(app: "coins", id: "delivery")?.state == .queued)
        },
        CaseStoreContract("unanswered is an open case whose time runs out and for which nothing is sent") {
            store in
            for (number, uuid) in ["owned", "sent", "nobody", "later", "declined"].enumerated() {
                if uuid != "nobody" {
                    _ = try await store.declare(try .sample(.transactionId, uuid, user: "alice"), transfer: false)
                }
                try await store.take(.sample(uuid, at: Double(number), transaction: .sample(id: uuid)))
            }
            _ = try await store.accept(.sample("delivery", caseID: "case-sent", transaction: "sent", at: 1))
            _ = try await store.decline(app: "coins", id: "case-declined", CaseModel.declined(at: 4))
            let unanswered = { (hour: Double, environment: AppStoreEnvironment, limit: Int) in
                var query = CaseQuery(limit: limit)
                query.environment = environment
                return try await store.unansweredCases(app: "coins", query, deadlineBefore: CaseModel.time(hour)).map(
                    \.id)
            }
            #expect(try await unanswered(15, .production, 10) == ["case-owned", "case-nobody"])
            #expect(try await unanswered(99, .production, 10) == ["case-owned", "case-nobody", "case-later"])
            var latest = CaseQuery(limit: 2)
            latest.isLatestFirst = true
            let first = try await store.unansweredCases(app: "coins", latest, deadlineBefore: .distantFuture)
            #expect(first.map(\.id) == ["case-later", "case-nobody"])
            latest.after = first.last.map { CaseQuery.Position(deadline: $0.deadline, id: $0.id) }
            #expect(
                try await store.unansweredCases(app: "coins", latest, deadlineBefore: .distantFuture).map(\.id)
                    == ["case-owned"])
            #expect(try await unanswered(99, .production, 1) == ["case-owned"])
            #expect(try await unanswered(12, .production, 10).isEmpty)
            #expect(try await unanswered(99, .sandbox, 10).isEmpty)
            _ = try await store.cancelDelivery(
                app: "coins", id: "delivery", because: DeliveryFailure(reason: .deliveryEnded, message: "Ended."),
                at: CaseModel.time(5))
            #expect(try await unanswered(15, .production, 10) == ["case-owned", "case-sent", "case-nobody"])
        },
        CaseStoreContract("a user's refunds are those of other purchases that Apple has not taken back") { store in
            for id in ["1", "2", "3", "4"] {
                _ = try await store.declare(try .sample(.transactionId, id, user: "alice"), transfer: false)
            }
            let alice = try UserID("alice")
            func refunds(_ environment: AppStoreEnvironment = .production, besides id: String = "9") async throws -> Int
            {
                try await store.refunds(of: alice, app: "coins", in: environment, besides: id)
            }
            #expect(try await refunds() == 0)
            // With a request before, and without.
            try await store.take(
                .sample("a", transaction: .sample(id: "1")),
                .sample("b", type: "REFUND", at: 1, transaction: .sample(id: "1")),
                .sample("c", type: "REFUND", at: 1, transaction: .sample(id: "2")),
                .sample("d", type: "REFUND_DECLINED", at: 1, transaction: .sample(id: "3")),
                .sample("e", type: "REFUND", at: 1, transaction: .sample(id: "nobody's")),
                .sample("f", type: "REFUND", at: 1, transaction: .sample(id: "4", environment: .sandbox)))
            #expect(try await refunds() == 2)
            #expect(try await refunds(besides: "1") == 1)
            #expect(try await refunds(.sandbox) == 1)
            try await store.take(
                .sample("g", type: "REFUND_REVERSED", at: 2, transaction: .sample(id: "1")),
                .sample("h", type: "REFUND_REVERSED", at: 2, transaction: .sample(id: "2")))
            #expect(try await refunds() == 0)
            try await store.take(.sample("i", type: "REFUND", at: 3, transaction: .sample(id: "2")))
            #expect(try await refunds() == 1)
        },
        CaseStoreContract("what a purchase cost, and what was given back, is the case's in any order") { store in
            var details = TransactionDetails()
            (details.price, details.currency, details.storefront) = (4990, "USD", "USA")
            let bought = Transaction.sample(details: details)
            details.revocationPercentage = 40_000
            let revoked = Transaction.sample(details: details)
            for (app, isAskedFirst) in [("coins", true), ("gems", false)] {
                let asked = StoredNotification.sample("asked-\(app)", transaction: bought, app: app)
                let refunded = StoredNotification.sample(
                    "refunded-\(app)", type: "REFUND", at: 1, transaction: revoked, app: app)
                for one in isAskedFirst ? [asked, refunded] : [refunded, asked] { try await store.take(one) }
                let known = try #require(try await store.latestCase(app: app, transactionID: "1000", environment: nil))
                #expect(known.terms == PurchaseTerms(price: 4990, currency: "USD", storefront: "USA"))
                #expect(known.outcome == .refunded && known.revocationPercentage == 40_000)
            }
        },
    ]

    private static func kinds(_ store: any Store) async throws -> [ServiceEvent.Kind] {
        try await store.events(after: 0, limit: 100).map(\.kind)
    }

    private static func queue(
        _ store: any Store, _ id: String, caseID: String, transaction: String
    ) async throws {
        guard case .created = try await store.accept(.sample(id, caseID: caseID, transaction: transaction)).decision
        else {
            Issue.record("\(id) was not accepted")
            return
        }
    }

    static let listing: [CaseStoreContract] = [
        CaseStoreContract("a list has the soonest deadline first, and each filter leaves out the rest") { store in
            let owner = try Link.sample(.transactionId, "2", user: "alice")
            _ = try await store.declare(owner, transfer: false)
            try await store.take(.sample("late", at: 3, transaction: .sample(id: "1")))
            try await store.take(.sample("soon", at: 1, transaction: .sample(id: "2")))
            try await store.take(.sample("box", at: 2, transaction: .sample(id: "1", environment: .sandbox)))
            try await store.take(
                .sample("over", at: 0, transaction: .sample(id: "3")),
                .sample("d", type: "REFUND", at: 4, transaction: .sample(id: "3")))
            try await store.take(.sample("other", app: "gems"))
            try await expect(store, ["over", "soon", "box", "late"]) { _ in }
            try await expect(store, ["over", "soon"]) { $0.limit = 2 }
            try await expect(store, ["soon", "box", "late"]) { $0.states = [.open] }
            try await expect(store, ["over"]) { $0.states = [.decided] }
            try await expect(store, ["over", "soon", "box", "late"]) { $0.states = [.open, .decided, .expired] }
            try await expect(store, []) { $0.states = [.declined, .answered] }
            try await expect(store, ["soon"]) { $0.owner = owner.user }
            try await expect(store, ["box", "late"]) { $0.transactionID = "1" }
            try await expect(store, ["box"]) { $0.environment = .sandbox }
            try await expect(store, ["soon"]) { ($0.states, $0.owner) = ([.open], owner.user) }
        },
        CaseStoreContract("pages hang together, also where deadlines are the same") { store in
            for number in 10..<35 {
                try await store.take(
                    .sample("\(number)", at: Double(number / 10), transaction: .sample(id: "\(number)")))
            }
            for states in [[], [.open], [.open, .decided]] as [Set<RefundCase.State>] {
                var query = CaseQuery(limit: 4)
                query.states = states
                var found: [String] = []
                while true {
                    let page = try await store.refundCases(app: "coins", query)
                    guard let last = page.last else { break }
                    found += page.map(\.id)
                    query.after = CaseQuery.Position(deadline: last.deadline, id: last.id)
                }
                #expect(found == (10..<35).map { "case-\($0)" })
            }
        },
        CaseStoreContract("the latest case of a transaction is the one requested last") { store in
            #expect(try await store.latestCase(app: "coins", transactionID: "1000", environment: nil) == nil)
            try await store.take(.sample("box", at: 5, transaction: .sample(environment: .sandbox)))
            try await store.take(.sample("a"), .sample("d", type: "REFUND", at: 1), .sample("b", at: 2))
            let latest = { (environment: AppStoreEnvironment?) in
                try await store.latestCase(app: "coins", transactionID: "1000", environment: environment)?.id
            }
            #expect(try await latest(nil) == "case-box")
            #expect(try await latest(.sandbox) == "case-box")
            #expect(try await latest(.production) == "case-b")
            #expect(try await store.latestCase(app: "gems", transactionID: "1000", environment: nil) == nil)
        },
        CaseStoreContract("the backlog counts open cases, with the nearest deadline") { store in
            #expect(try await store.caseBacklog().isEmpty)
            for number in 1...3 {
                try await store.take(.sample("\(number)", at: Double(number), transaction: .sample(id: "\(number)")))
            }
            try await store.take(.sample("box", at: 9, transaction: .sample(environment: .sandbox)))
            try await store.take(.sample("gem", at: 8, app: "gems"))
            try await store.take(.sample("d", type: "REFUND", at: 9, transaction: .sample(id: "1")))
            let expected: Set = [
                CaseBacklog(app: "coins", environment: .production, open: 2, nearestDeadline: CaseModel.time(14)),
                CaseBacklog(app: "coins", environment: .sandbox, open: 1, nearestDeadline: CaseModel.time(21)),
                CaseBacklog(app: "gems", environment: .production, open: 1, nearestDeadline: CaseModel.time(20)),
            ]
            #expect(Set(try await store.caseBacklog()) == expected)
        },
    ]

    private static func expect(
        _ store: any Store, _ requests: [String], sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout CaseQuery) -> Void
    ) async throws {
        var query = CaseQuery()
        change(&query)
        let found = try await store.refundCases(app: "coins", query).map(\.id)
        #expect(found == requests.map { "case-\($0)" }, sourceLocation: sourceLocation)
    }
}
