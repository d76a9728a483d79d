import Domain
import Foundation
import Testing

extension NotificationStoreContract {
    static let processing: [NotificationStoreContract] = [
        NotificationStoreContract("what is to be processed comes in the order in which it was recorded") { store in
            for uuid in ["c", "a", "b"] { _ = try await store.record(.sample(uuid, transaction: .sample(id: uuid))) }
            let waiting = try await store.unprocessedNotifications(limit: 2)
            #expect(waiting.map(\.notification.notificationUUID) == ["c", "a"])
            try await store.take(.sample("c", transaction: .sample(id: "c")))
            #expect(
                try await store.unprocessedNotifications(limit: 10).map(\.notification.notificationUUID) == ["a", "b"])
            let processed = try #require(try await store.notification(app: "coins", uuid: "c"))
            #expect(processed.processedAt == CaseDesk.time(0))
        },
        NotificationStoreContract("processing it again changes nothing, and neither does one that is not there") {
            store in
            let request = StoredNotification.sample("a", received: 1)
            guard case .open(let opened)? = try await store.take(request).first else {
                Issue.record("not opened")
                return
            }
            let events = try await store.events(after: 0, limit: 10)
            #expect(events.map(\.kind) == [.notificationReceived, .caseOpened])
            #expect(try await store.take(request) == [.none])
            let unknown = StoredNotification.sample("unknown", at: 2)
            #expect(
                try await store.process(
                    unknown, notice: unknown.notice, links: [], newCaseID: "x", at: CaseDesk.time(3)) == .none)
            #expect(try await store.events(after: 0, limit: 10) == events)
            #expect(try await store.refundCases(app: "coins", CaseQuery()) == [opened])
        },
        NotificationStoreContract("of many that process one at once, one applies it") { store in
            let request = StoredNotification.sample("a")
            _ = try await store.record(request)
            let changes = try await withThrowingTaskGroup(of: CaseRules.Change.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        try await store.process(
                            request, notice: request.notice, links: [], newCaseID: "case-\(number)",
                            at: CaseDesk.time(0))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(changes.filter { $0 != .none }.count == 1)
            #expect(try await store.refundCases(app: "coins", CaseQuery()).count == 1)
        },
        NotificationStoreContract("links are learnt before the owner is looked for, and override nothing") { store in
            let declared = try Link.sample(.transactionId, "2", user: "bob")
            _ = try await store.declare(declared, transfer: false)
            let first = Transaction.sample(id: "1", account: "704")
            let learnt = try Link.sample(.transactionId, "1", user: "alice", source: .signedData)
            let contrary = try Link.sample(.transactionId, "2", user: "alice", source: .signedData)
            try await store.take(.sample("a", transaction: first), links: [learnt])
            try await store.take(.sample("b", transaction: .sample(id: "2")), links: [contrary])
            let owners = try await store.refundCases(app: "coins", CaseQuery()).map(\.owner?.value)
            #expect(owners.sorted { $0 ?? "" < $1 ?? "" } == ["alice", "bob"])
            #expect(try await store.notification(app: "coins", uuid: "a")?.user == learnt.user)
            #expect(try await store.links(app: "coins", targets: [contrary.target]) == [declared])
            let opened = try await store.events(app: "coins", after: 0, limit: 10).filter { $0.kind == .caseOpened }
            #expect(opened.map(\.user) == [learnt.user, declared.user])
        },
        NotificationStoreContract("identifiers that belong together are remembered") { store in
            let transaction = Transaction.sample(id: "2", original: "1", account: "704", environment: .sandbox)
            try await store.take(.sample("a", type: "DID_RENEW", transaction: transaction))
            let known = try await store.known(app: "coins", identifiers: ["1", "2", "704"])
            #expect(
                Set(known)
                    == Set(
                        ["1", "2"].map {
                            KnownIdentifier(identifier: $0, environment: .sandbox, appTransactionID: "704")
                        }))
        },
        NotificationStoreContract("other types change no case") { store in
            try await store.take(.sample("a", type: "DID_RENEW"), .sample("b", type: "BRAND_NEW_TYPE", subtype: "X"))
            #expect(try await store.refundCases(app: "coins", CaseQuery()).isEmpty)
            #expect(
                try await store.events(after: 0, limit: 10).map(\.kind)
                    == Array(
                        repeating: .notificationReceived, count: 2))
        },
    ]
}
