import Domain
import Foundation
import Testing

extension NotificationStoreContract {
    static let listing: [NotificationStoreContract] = [
        NotificationStoreContract("a list has the latest first, and each filter leaves out the rest") { store in
            let renewal = Transaction.sample(id: "2", original: "1", environment: .sandbox)
            try await store.take(.sample("a", transaction: .sample(id: "1")))
            let learnt = try Link.sample(.transactionId, "2", user: "alice", source: .signedData)
            try await store.take(
                .sample("b", type: "DID_RENEW", subtype: "BILLING_RECOVERY", at: 1, transaction: renewal),
                links: [learnt])
            try await store.take(.sample("c", type: "TEST", at: 2, transaction: nil))
            _ = try await store.record(.sample("d", at: 3, app: "gems"))
            try await expect(store, ["c", "b", "a"]) { _ in }
            try await expect(store, ["c", "b"]) { $0.limit = 2 }
            try await expect(store, ["b"]) { $0.type = "DID_RENEW" }
            try await expect(store, ["b"]) { $0.subtype = "BILLING_RECOVERY" }
            try await expect(store, []) { ($0.type, $0.subtype) = ("TEST", "BILLING_RECOVERY") }
            try await expect(store, ["b"]) { $0.user = learnt.user }
            try await expect(store, ["b"]) { $0.environment = .sandbox }
            try await expect(store, ["c", "b"]) { $0.since = CaseDesk.time(1) }
            try await expect(store, []) { $0.since = CaseDesk.time(2.5) }
            try await expect(store, ["b"]) { $0.transactionID = "2" }
            try await expect(store, ["b", "a"]) { $0.transactionID = "1" }
            try await expect(store, ["a"]) { ($0.transactionID, $0.environment) = ("1", .production) }
        },
        NotificationStoreContract("pages hang together while more comes in") { store in
            for number in 0..<25 { _ = try await store.record(.sample("\(number)")) }
            for filter in [nil, "1000"] {
                var query = NotificationQuery(limit: 10)
                query.transactionID = filter
                var found: [String] = []
                while true {
                    let page = try await store.notifications(app: "coins", query)
                    guard let last = page.last else { break }
                    found += page.map(\.notification.notification.notificationUUID)
                    query.before = last.position
                    _ = try await store.record(.sample("later \(found.count) \(filter ?? "-")"))
                }
                #expect(found.filter { !$0.hasPrefix("later") } == (0..<25).reversed().map(String.init))
                #expect(Set(found).count == found.count)
            }
        },
    ]

    private static func expect(
        _ store: any Store, _ uuids: [String], sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout NotificationQuery) -> Void
    ) async throws {
        var query = NotificationQuery()
        change(&query)
        let found = try await store.notifications(app: "coins", query).map(\.notification.notification.notificationUUID)
        #expect(found == uuids, sourceLocation: sourceLocation)
    }
}
