import Domain
import Foundation
import Testing

extension CaseStoreContract {
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
                CaseBacklog(app: "coins", environment: .production, open: 2, nearestDeadline: CaseDesk.time(14)),
                CaseBacklog(app: "coins", environment: .sandbox, open: 1, nearestDeadline: CaseDesk.time(21)),
                CaseBacklog(app: "gems", environment: .production, open: 1, nearestDeadline: CaseDesk.time(20)),
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
