package import Domain
import Foundation
import Testing

/// What every store must do that gives out what it keeps of a user, beside its erasure.
package struct UserExportContract: Sendable, CustomTestStringConvertible {
    package typealias Store = Services.Store & AuditPseudonymStore
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases: [UserExportContract] = [
        UserExportContract("of whom nothing is known, nothing is found, and the audit names nobody") { store in
            let nobody = try UserID("nobody")
            #expect(try await store.inventory(app: "coins", user: nobody) == UserInventory())
            #expect(try await store.existingAuditPseudonym(of: nobody, app: "coins") == nil)
        },
        UserExportContract("an export finds what an erasure counts, and nothing after it") { store in
            for id in ["alice", "3F2504E0-4F89-11D3-9A0C-0305E82C3301"] {
                let user = try UserID(id)
                try await fill(store, user, prefix: String(id.prefix(1)))
                let found = try await store.inventory(app: "coins", user: user)
                for part in UserInventory.Part.allCases {
                    #expect(found.keys[part]?.isEmpty == false, "\(id) \(part)")
                }
                #expect(found.purchaseTokens.map(\.isAccepted) == [false, true])
                #expect(found.idempotencyKeys.map(\.key) == ["k"] && found.receiptPurchases.isEmpty == false)
                let pseudonym = try await store.existingAuditPseudonym(of: user, app: "coins")
                #expect(found.auditPseudonyms == [try #require(pseudonym)])
                #expect(found.isErasedWithdrawalKept == false && found.rescissions == [])
                let report = try await store.eraseUser(app: "coins", user: user, at: CaseModel.time(9))
                func count(_ part: UserInventory.Part) -> Int { found.keys[part]?.count ?? 0 }
                #expect(count(.links) == report.links && count(.consent) == report.consentRecords)
                #expect(count(.usage) == report.usage && count(.cases) == report.cases)
                #expect(count(.deliveries) == report.deliveries && count(.receipts) == report.receipts)
                #expect(count(.notifications) == report.notifications && count(.events) == report.events)
                #expect(count(.appleAnswers) == report.answers)
                var left = UserInventory()
                left.isErasedWithdrawalKept = true
                #expect(try await store.inventory(app: "coins", user: user) == left)
                #expect(try await store.existingAuditPseudonym(of: user, app: "coins") == nil)
            }
        },
        UserExportContract("records are read as they are kept, in any number at once") { store in
            let user = try UserID("alice")
            try await fill(store, user, prefix: "a")
            let found = try await store.inventory(app: "coins", user: user)
            var read: [UserInventory.Part: [UserRecord]] = [:]
            for (part, keys) in found.keys {
                let whole = try await store.records(app: "coins", user: user, part, keys[...])
                #expect(whole.withheld == 0 && whole.records.count == keys.count, "\(part)")
                var one: [UserRecord] = []
                for index in keys.indices {
                    one += try await store.records(app: "coins", user: user, part, keys[index...index]).records
                }
                #expect("\(one)" == "\(whole.records)", "\(part)")
                read[part] = whole.records
            }
            let history = try await store.consentHistory(app: "coins", user: user)
            #expect(
                read[.consent]?.compactMap { if case .consent(let record) = $0 { record } else { nil } } == history)
            let delivery = try await store.delivery(app: "coins", id: "a-d")
            #expect(
                read[.deliveries]?.compactMap { if case .delivery(let found) = $0 { found } else { nil } }
                    == [try #require(delivery)])
            #expect(read.values.flatMap(\.self).allSatisfy { $0.user?.isSameUser(as: user) ?? true })
        },
        UserExportContract("an erasure of another user changes nothing of an export") { store in
            let (alice, bob) = (try UserID("alice"), try UserID("bob"))
            try await fill(store, alice, prefix: "a")
            try await fill(store, bob, prefix: "b")
            let before = try await store.inventory(app: "coins", user: alice)
            let records = try await readAll(before, of: alice, store)
            _ = try await store.eraseUser(app: "coins", user: bob, at: CaseModel.time(9))
            #expect(try await store.inventory(app: "coins", user: alice) == before)
            #expect(try await readAll(before, of: alice, store) == records)
            #expect(try await store.inventory(app: "gems", user: alice) == UserInventory())
        },
        UserExportContract("what has become another user's is found and withheld") { store in
            let (alice, bob) = (try UserID("alice"), try UserID("bob"))
            _ = try await store.declare(try .sample(.transactionId, "1000", user: "alice"), transfer: false)
            try await store.take(.sample("n1"))
            try await store.queue(.sample("d1", caseID: "case-n1", user: "alice", purchase: Transaction.sample().facts))
            _ = try await store.declare(
                try .sample(.transactionId, "1000", user: "bob", created: 200), transfer: true)
            let found = try await store.inventory(app: "coins", user: alice)
            let keys = try #require(found.keys[.deliveries])
            let page = try await store.records(app: "coins", user: alice, .deliveries, keys[...])
            #expect(page.records.isEmpty && page.withheld == 1)
            #expect(found.keys[.cases] == nil, "it is bob's now")
            let others = try await store.inventory(app: "coins", user: bob)
            #expect(others.keys[.cases]?.count == 1)
            let cases = try await store.records(app: "coins", user: bob, .cases, try #require(others.keys[.cases])[...])
            #expect(cases.records.count == 1 && cases.withheld == 0)
        },
        UserExportContract("what an erasure between the pages removes is left out") { store in
            let user = try UserID("alice")
            try await fill(store, user, prefix: "a")
            let found = try await store.inventory(app: "coins", user: user)
            _ = try await store.eraseUser(app: "coins", user: user, at: CaseModel.time(9))
            for part in [UserInventory.Part.links, .consent, .usage, .quarantinedNotifications] {
                let page = try await store.records(app: "coins", user: user, part, try #require(found.keys[part])[...])
                #expect(page.records.isEmpty, "\(part)")
            }
            #expect(try await readAll(found, of: user, store).contains("alice") == false)
        },
    ]

    /// Everything in which a user can be named, in at least one record of each part.
    private static func fill(_ store: any Store, _ user: UserID, prefix: String) async throws {
        let token = "deadbeef-0815-4000-8000-00000000000\(prefix.utf8.first.map { $0 % 10 } ?? 0)"
        _ = try await store.declare(try .sample(.appAccountToken, token, user: user.value), transfer: false)
        _ = try await store.recordConsent(try .sample(user.value, true))
        let (bought, used) = ("\(prefix)1000", "\(prefix)77")
        _ = try await store.recordUsage([
            try .sample(product: "gems", of: user.value, 10, at: 1), try .sample(used, 10, at: 1, user: user.value),
            try .sample(bought, 10, at: 1),
        ])
        let transaction = Transaction.sample(id: bought, account: "\(prefix)704", token: token)
        try await store.take(.sample("\(prefix)-n1", at: 0, transaction: transaction))
        try await store.keep(
            [AppleAnswer(app: "coins", transaction: transaction)], notedAfter: store.erasures, at: CaseModel.time(0))
        let key = IdempotencyKey(caller: "shop", app: "coins", route: "/users/\(user)/consumption", key: "k")
        try await store.queue(
            .sample(
                "\(prefix)-d", caseID: "case-\(prefix)-n1", transaction: bought, user: user.value,
                purchase: transaction.facts, body: #"{"of":"\#(user)"}"#, key: key))
        try await store.claim(at: 0)
        try await store.recordToken(token, of: bought, app: "coins", environment: .production, at: CaseModel.time(1))
        _ = try await store.quarantine(
            .sample("\(prefix)-q", identifiers: [LinkTarget(.appAccountToken, token)]),
            within: QuarantineBound(perApp: 10, inAll: 10))
        let content = ReceiptContent.sample(.sample("\(prefix)5"))
        let receipt = try await store.keep(
            try .draft("\(prefix)-r", digest: Array(prefix.utf8), user: user.value, content))
        _ = try await store.conclude(
            ReceiptConclusion(
                receipt, outcome: .known([.sample(id: "\(prefix)5", account: "\(prefix)704")]), at: CaseModel.time(2),
                isTimeCertain: true, nextAttemptAt: CaseModel.time(3), usersPerTransaction: 3))
        _ = try await store.recordConsent(try .sample(user.value, false))
    }

    /// Every record of an inventory, as text.
    private static func readAll(
        _ inventory: UserInventory, of user: UserID, _ store: any Store
    ) async throws -> String {
        var all = ""
        for part in UserInventory.Part.allCases {
            let keys = inventory.keys[part] ?? []
            all += "\(part): \(try await store.records(app: "coins", user: user, part, keys[...]))\n"
        }
        return all
    }
}
