package import Domain
import Foundation
import Testing

/// What every store that reports on refund requests must do.
package struct RefundReportStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = RefundReportStore & CaseStore & ConsentStore & DeliveryStore & LinkStore
        & NotificationStore
        & StoreMaintenance
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    private init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases: [RefundReportStoreContract] = [
        RefundReportStoreContract("a store without cases has a report without rows") { store in
            let together = try await report(store, [])
            let apart = try await report(store, Set(RefundReportQuery.Dimension.allCases))
            #expect(together.rows.isEmpty && apart.rows.isEmpty)
        },
        RefundReportStoreContract("an answer that Apple accepted, and what it decided, stand side by side") { store in
            let gems = Transaction.priced(id: "1", 9990, "USD", "USA")
            try await store.take(.sample("a", reason: "LEGAL", transaction: gems))
            try await answer(store, "case-a", "1", .grantProrated, PolicyTrace(rule: "gems", facts: [], usageAt: nil))
            _ = try await store.conclude("answer to case-a", .accepted, at: 1)
            try await store.take(
                .sample(
                    "d", type: "REFUND", at: 30, transaction: .priced(id: "1", 9990, "USD", "USA", returned: 25_000)))
            let found = try await report(store, Set(RefundReportQuery.Dimension.allCases))
            #expect(
                found.rows.map(\.key) == [
                    RefundReport.Key(
                        values: ["gems", "LEGAL", "GRANT_PRORATED", "gems", "USA", "2023-W46"], currency: "USD")
                ])
            let figures = try #require(found.rows.first?.figures)
            #expect(figures.requests == 1 && figures.answeredInTime == 1 && figures.outcomes == [.refunded: 1])
            #expect(figures.proratedRefunds == 1 && figures.meanRevocationPercentage == 25_000)
            #expect(figures.requestedAmount == 9990 && figures.refundedAmount == 2498)
            try await store.take(.sample("r", type: "REFUND_REVERSED", at: 40, transaction: gems))
            let reversed = try #require(try await report(store, []).rows.first?.figures)
            #expect(reversed.outcomes == [.refundReversed: 1] && reversed.refundedAmount == 0)
        },
        RefundReportStoreContract("what is late, open, and of another app or environment is told apart") { store in
            try await store.take(.sample("late", transaction: .priced(id: "1", 1, "EUR", "DEU")))
            try await answer(store, "case-late", "1", .decline)
            _ = try await store.expireCases(at: CaseModel.time(12), limit: 10)
            _ = try await store.conclude("answer to case-late", .accepted, at: 13)
            try await store.take(.sample("open", at: 2, transaction: .priced(id: "2", 2, "EUR", "DEU")))
            try await store.take(.sample("box", transaction: .sample(id: "3", environment: .sandbox)))
            try await store.take(.sample("other", app: "gems"))
            let rows = try await report(store, [.refundPreference]).rows
            #expect(rows.map(\.key.values) == [[nil], ["DECLINE"]])
            #expect(rows.map(\.figures.open) == [1, 0] && rows.map(\.figures.answeredLate) == [0, 1])
            let box = try await report(store, []) { $0.environment = .sandbox }
            #expect(box.rows.map(\.key.currency) == [nil] && box.rows.first?.figures.requests == 1)
            for (from, to, count) in [(0.0, 2.0, 1), (0.001, 3, 1), (0, 2.001, 2), (2.001, 9, 0), (-9, 0, 0)] {
                let rows = try await report(store, []) {
                    ($0.from, $0.to) = (CaseModel.time(from), CaseModel.time(to))
                }.rows
                #expect(rows.map(\.figures.requests).reduce(0, +) == count, "\(from) to \(to)")
            }
        },
        RefundReportStoreContract("each silence is told by its reason") { store in
            try await fallSilent(store)
            let rows = try await report(store, [.reason, .policyRule]).rows
            #expect(rows.allSatisfy { $0.figures.requests == 1 && $0.figures.silentRequests == 1 })
            let found = rows.compactMap { row in row.figures.silent.keys.first.map { (row.key.values[0], $0) } }
            #expect(found.count == RefundSilence.allCases.count)
            for (reason, silence) in found { #expect(reason == silence.rawValue) }
            #expect(rows.compactMap { $0.key.values[1] } == ["trials"])
        },
        RefundReportStoreContract("each decision is counted once, with what the answer preferred, and stays counted") {
            store in
            #expect(try await store.refundDecisions() == [])
            for id in ["1", "2"] {
                try await store.take(.sample(id, transaction: .sample(id: id)))
                try await answer(store, "case-\(id)", id, .decline)
                _ = try await store.conclude("answer to case-\(id)", .accepted, at: 1)
            }
            try await store.take(
                .sample("d1", type: "REFUND", at: 2, transaction: .sample(id: "1")),
                .sample("again", type: "REFUND", at: 3, transaction: .sample(id: "1")),
                .sample("d2", type: "REFUND", at: 2, transaction: .sample(id: "2")),
                .sample("r2", type: "REFUND_REVERSED", at: 4, transaction: .sample(id: "2")),
                // Apple's decision comes before its question.
                .sample("d3", type: "REFUND_DECLINED", at: 2, transaction: .sample(id: "3")),
                .sample("q3", at: 1, received: 3, transaction: .sample(id: "3")),
                .sample("q4", transaction: .sample(id: "4", environment: .sandbox)),
                .sample("d4", type: "REFUND", at: 1, transaction: .sample(id: "4", environment: .sandbox)))
            let expected: [(AppStoreEnvironment, RefundCase.Outcome, ConsumptionV2.RefundPreference?, Int)] = [
                (.production, .refunded, .decline, 2), (.production, .refundReversed, .decline, 1),
                (.production, .refundDeclined, nil, 1), (.sandbox, .refunded, nil, 1),
            ]
            var policy = RetentionPolicy()
            policy.deliveries = .seconds(1)
            for hour in [5.0, 500] {
                _ = try await store.enforceRetention(policy, at: CaseModel.time(hour), limit: 10)
                let found = try await store.refundDecisions()
                #expect(found.count == expected.count)
                for (environment, outcome, preference, count) in expected {
                    #expect(
                        found.contains(
                            RefundDecisionCount(
                                app: "coins", environment: environment, outcome: outcome, refundPreference: preference,
                                count: count)), "\(outcome)")
                }
            }
        },
        RefundReportStoreContract("an answer is told of as long as its case is kept") { store in
            try await store.take(.sample("a"))
            try await answer(store, "case-a", "1000", .decline)
            _ = try await store.conclude("answer to case-a", .accepted, at: 1)
            try await store.take(.sample("d", type: "REFUND_DECLINED", at: 48))
            var policy = RetentionPolicy()
            policy.deliveries = .seconds(48 * 3600)
            #expect(try await store.enforceRetention(policy, at: CaseModel.time(95), limit: 10).deliveries == 0)
            let rows = try await report(store, [.refundPreference]).rows
            #expect(rows.map(\.key.values) == [["DECLINE"]] && rows.first?.figures.answeredInTime == 1)
            let removed = try await store.enforceRetention(policy, at: CaseModel.time(96.1), limit: 10)
            #expect(removed.deliveries == 1 && removed.cases == 1)
        },
    ]

    /// Makes a case for each silence, whose reason is the silence's name.
    private static func fallSilent(_ store: any Store) async throws {
        func open(_ silence: RefundSilence, isOwned: Bool = true) async throws -> String {
            let id = silence.rawValue
            if isOwned {
                _ = try await store.declare(try .sample(.transactionId, id, user: "\(id)'s"), transfer: false)
            }
            try await store.take(.sample(id, reason: id, transaction: .sample(id: id)))
            return id
        }
        for silence in [RefundSilence.refusedByApple, .cancelled, .consentWithdrawn] {
            let id = try await open(silence)
            try await answer(store, "case-\(id)", id, .decline)
        }
        _ = try await store.conclude("answer to case-refusedByApple", .refused(.sample), at: 1)
        let taken = DeliveryFailure(reason: .deliveryEnded, message: "Caller `shop` cancelled it.")
        _ = try await store.conclude("answer to case-cancelled", .cancelled(taken), at: 1)
        let objection = DeliveryFailure.objection(.withdrawn(try UserID("consentWithdrawn's")))
        _ = try await store.conclude("answer to case-consentWithdrawn", .cancelled(objection), at: 1)
        let late = try await open(.deadlineExceeded)
        try await store.queue(.sample("late", caseID: "case-\(late)", transaction: late, due: 11))
        _ = try await store.expireDeliveries(at: CaseModel.time(12), limit: 10)
        for (silence, caller, note) in [
            (.declined, "shop", "no"), (.declinedByPolicy, RefundPolicy.caller, "trials"),
        ]
            as [(RefundSilence, String, String)]
        {
            let id = try await open(silence)
            let decline = RefundCase.Decline(caller: caller, note: note, at: CaseModel.time(1))
            _ = try await store.decline(app: "coins", id: "case-\(id)", decline)
        }
        let first = try await open(.decidedFirst)
        try await store.take(.sample("d", type: "REFUND", at: 2, transaction: .sample(id: first)))
        _ = try await open(.unanswered)
        _ = try await open(.ownerUnknown, isOwned: false)
        _ = try await store.expireCases(at: CaseModel.time(12), limit: 100)
    }

    /// Queues an answer to a case and claims it.
    private static func answer(
        _ store: any Store, _ caseID: String, _ transaction: String, _ preference: ConsumptionV2.RefundPreference,
        _ policy: PolicyTrace? = nil
    ) async throws {
        let sample = try DeliveryDraft.sample("answer to \(caseID)", caseID: caseID, transaction: transaction)
        var delivery = sample.delivery
        delivery.refundPreference = preference
        delivery.policy = policy
        try await store.queue(
            DeliveryDraft(
                delivery: delivery, idempotencyKey: nil, requestDigest: sample.requestDigest, subject: sample.subject))
        try await store.claim(at: 0, lease: 100)
    }

    /// A report on the app `coins` in Production.
    private static func report(
        _ store: any Store, _ groupBy: Set<RefundReportQuery.Dimension>,
        _ change: (inout RefundReportQuery) -> Void = { _ in }
    ) async throws -> RefundReport {
        var query = RefundReportQuery(environment: .production)
        query.groupBy = groupBy
        change(&query)
        return try await store.refundReport(app: "coins", query)
    }
}

extension Transaction {
    /// A transaction with what it cost; `returned`: the part of it that Apple gave back, in milliunits.
    package static func priced(
        id: String, account: String? = nil, _ price: Int64, _ currency: String, _ storefront: String? = nil,
        returned: Int32? = nil
    ) -> Transaction {
        var details = TransactionDetails()
        (details.price, details.currency, details.storefront) = (price, currency, storefront)
        details.revocationPercentage = returned
        return sample(id: id, account: account, details: details)
    }
}
