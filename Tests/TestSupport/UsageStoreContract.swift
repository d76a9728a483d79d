package import Domain
package import Foundation
import Testing

/// What every store of usage must do.
package struct UsageStoreContract: Sendable, CustomTestStringConvertible {
    package typealias Store = UsageStore & ConsentStore & LinkStore & NotificationStore & StoreMaintenance
    package typealias Make = @Sendable () async throws -> any Store

    package let testDescription: String
    private let check: @Sendable (any Store) async throws -> Void

    /// Runs the case on a fresh store.
    package func run(on make: Make) async throws { try await check(try await make()) }

    init(_ description: String, _ check: @escaping @Sendable (any Store) async throws -> Void) {
        testDescription = description
        self.check = check
    }

    package static let cases = recording + finding + erasing

    static let token = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

    private static let recording: [UsageStoreContract] = [
        UsageStoreContract("a report comes back whole") { store in
            var facts = UsageFacts()
            facts.deliveryStatus = .undeliveredOther
            facts.consumptionPercentage = 0
            facts.sampleContentProvided = true
            facts.accountCreatedAt = Date(timeIntervalSince1970: -0.25)
            facts.playTimeMinutes = 100_000_000
            facts.lifetimeCentsPurchased = 1_000_000_000_000
            facts.lifetimeCentsRefunded = 7
            facts.platform = 2
            facts.userStatus = 4
            let user = try UserID("bob\u{0}1")
            let subjects: [UsageReport.Subject] = [.transaction("1", user: user), .product("gems", user: user)]
            let reports = subjects.map { subject in
                UsageReport(
                    app: "coins", subject: subject, environment: .sandbox, facts: facts,
                    at: Date(timeIntervalSince1970: 1000.125), recordedAt: Date(timeIntervalSince1970: 2000.5),
                    recordedBy: "shop")
            }
            #expect(try await store.recordUsage(reports) == reports.map { .insert($0) })
            #expect(try await store.usage(app: "coins", user: user, after: nil, limit: 10).map(\.report) == reports)
            #expect(try await store.usage(of: .transaction("1")) == reports[0])
            #expect(try await store.usage(of: .transaction("1", app: "gems")) == nil)
            #expect(try await store.recordUsage(reports) == reports.map { .keep($0) })
            #expect(try await store.usage(app: "coins", user: try UserID("bob"), after: nil, limit: 10).isEmpty)
        },
        UsageStoreContract("whatever the order of three reports, the newest stands") { store in
            for (index, order) in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]].enumerated() {
                let reports = try order.map { time in
                    try UsageReport.sample("t\(index)", Int32(time), at: TimeInterval(time))
                }
                // One after the other, and as one batch with two more subjects between them.
                for report in reports { _ = try await store.recordUsage([report]) }
                let batch = try reports.flatMap { report in
                    let time = report.at.timeIntervalSince1970
                    return [
                        try UsageReport.sample("b\(index)", Int32(time), at: time),
                        try .sample(product: "p\(index)", of: "alice", Int32(time), at: time),
                    ]
                }
                let decisions = try await store.recordUsage(batch)
                #expect(decisions.count == 6)
                for transaction in ["t\(index)", "b\(index)"] {
                    #expect(try await store.usage(of: .transaction(transaction))?.facts.consumptionPercentage == 3)
                }
            }
            let alice = try await store.usage(app: "coins", user: try UserID("alice"), after: nil, limit: 100)
            #expect(alice.map(\.report.facts.consumptionPercentage) == Array(repeating: 3, count: 6))
        },
        UsageStoreContract("environments are apart, and a report of neither counts for both") { store in
            _ = try await store.recordUsage([
                try .sample("1", 10, at: 1), try .sample("1", 20, at: 2, environment: .production),
                try .sample("1", 5, at: 0, environment: .sandbox), try .sample("2", 30, at: 1, environment: .sandbox),
            ])
            #expect(try await percentage(store, .transaction("1", .production)) == 20)
            #expect(try await percentage(store, .transaction("1", .sandbox)) == 10)
            #expect(try await percentage(store, .transaction("1")) == 20)
            #expect(try await percentage(store, .transaction("2")) == 30)
            #expect(try await percentage(store, .transaction("2", .production)) == nil)
        },
        UsageStoreContract("a user's reports come page by page, whatever changes meanwhile") { store in
            let alice = try UserID("alice")
            for number in 0..<5 {
                _ = try await store.recordUsage([try .sample(product: "p\(number)", of: "alice", 1, at: 1)])
            }
            let first = try await store.usage(app: "coins", user: alice, after: nil, limit: 2)
            _ = try await store.recordUsage([try .sample(product: "p0", of: "alice", 2, at: 2)])
            let rest = try await store.usage(app: "coins", user: alice, after: first.last?.position, limit: 10)
            let products = (first + rest).map(\.report.subject)
            #expect(products == (0..<5).map { .product("p\($0)", user: alice) })
        },
        UsageStoreContract("reports go when their time is over, the oldest first") { store in
            for number in 0..<3 {
                _ = try await store.recordUsage([
                    try .sample("\(number)", 1, at: 9_000, recorded: TimeInterval(1000 * number))
                ])
            }
            // News of a purchase keeps it.
            _ = try await store.recordUsage([try .sample("0", 2, at: 9_001, recorded: 5000)])
            var policy = RetentionPolicy()
            policy.usage = .seconds(86_400)
            for removed in [1, 1, 0] {
                let result = try await store.enforceRetention(
                    policy, at: Date(timeIntervalSince1970: 86_400 + 4000), limit: 1)
                #expect(result.usage == removed)
            }
            #expect(try await percentage(store, .transaction("0")) == 2)
            #expect(try await store.usage(of: .transaction("1")) == nil)
        },
    ]

    private static let finding: [UsageStoreContract] = [
        UsageStoreContract("a one-time purchase is found by its original transaction id too") { store in
            let restored = Transaction.sample(id: "2", original: "1")
            _ = try await store.recordUsage([try .sample("1", 10, at: 2000)])
            #expect(try await store.usage(of: .transaction("2")) == nil)
            try await store.take(.sample("n", type: "ONE_TIME_CHARGE", transaction: restored))
            #expect(try await percentage(store, .transaction("2")) == 10)
            #expect(try await percentage(store, .purchase(restored)) == 10)
            _ = try await store.recordUsage([try .sample("2", 20, at: 2001)])
            #expect(try await percentage(store, .transaction("2")) == 20)
        },
        UsageStoreContract("a renewal is not the subscription's first period") { store in
            let renewal = Transaction.sample(
                id: "2", original: "1", webOrderLineItem: "w2", type: .autoRenewableSubscription)
            _ = try await store.recordUsage([try .sample("1", 10, at: 2000)])
            #expect(try await store.usage(of: .purchase(renewal)) == nil)
        },
        UsageStoreContract("a product's report finds the purchase by its present owner") { store in
            let purchase = Transaction.sample(id: "1", purchased: 1000)
            _ = try await store.recordUsage([
                try .sample(product: "gems", of: "alice", 10, at: 1500),
                try .sample(product: "gems", of: "bob", 20, at: 1500),
                try .sample(product: "gold", of: "alice", 30, at: 1500),
            ])
            #expect(try await store.usage(of: .purchase(purchase)) == nil)
            _ = try await store.declare(try .sample(.transactionId, "1", user: "alice"), transfer: false)
            #expect(try await percentage(store, .purchase(purchase)) == 10)
            _ = try await store.declare(try .sample(.transactionId, "1", user: "bob"), transfer: true)
            #expect(try await percentage(store, .purchase(purchase)) == 20)
            // What names the purchase itself says more, even if it is older.
            _ = try await store.recordUsage([try .sample("1", 40, at: 1200)])
            #expect(try await percentage(store, .purchase(purchase)) == 40)
        },
        UsageStoreContract("a user whose id is the token is found in every spelling") { store in
            let purchase = Transaction.sample(id: "1", token: token, purchased: 1000)
            _ = try await store.declare(try .sample(.appTransactionId, "7", user: token), transfer: false)
            _ = try await store.recordUsage([try .sample(product: "gems", of: token.uppercased(), 10, at: 1500)])
            #expect(try await percentage(store, .purchase(purchase)) == 10)
            let listed = try await store.usage(app: "coins", user: try UserID(token), after: nil, limit: 10)
            #expect(listed.map(\.report.subject) == [.product("gems", user: try UserID(token))])
        },
        UsageStoreContract("a product's report of before a purchase does not speak of it") { store in
            let purchase = Transaction.sample(id: "1", purchased: 1000)
            _ = try await store.declare(try .sample(.transactionId, "1", user: "alice"), transfer: false)
            _ = try await store.recordUsage([try .sample(product: "gems", of: "alice", 10, at: 999)])
            #expect(try await store.usage(of: .purchase(purchase)) == nil)
        },
        UsageStoreContract("a product's report speaks of no purchase if it was bought again by then") { store in
            let (first, second) = (
                Transaction.sample(id: "1", purchased: 1000), Transaction.sample(id: "2", purchased: 2000)
            )
            for id in ["1", "2"] {
                _ = try await store.declare(try .sample(.transactionId, id, user: "alice"), transfer: false)
            }
            _ = try await store.recordUsage([try .sample(product: "gems", of: "alice", 10, at: 1999)])
            try await store.take(.sample("n", type: "ONE_TIME_CHARGE", transaction: second))
            #expect(try await percentage(store, .purchase(first)) == 10)
            #expect(try await store.usage(of: .purchase(second)) == nil)
            _ = try await store.recordUsage([try .sample(product: "gems", of: "alice", 20, at: 2000)])
            #expect(try await store.usage(of: .purchase(first)) == nil)
            #expect(try await percentage(store, .purchase(second)) == 20)
        },
    ]

    static func percentage(_ store: any Store, _ subject: ConsentSubject) async throws -> Int32? {
        try await store.usage(of: subject)?.facts.consumptionPercentage
    }
}

extension ConsentSubject {
    /// A transaction of which nothing else is given.
    package static func transaction(
        _ id: String, _ environment: AppStoreEnvironment? = nil, app: String = "coins"
    ) -> ConsentSubject {
        ConsentSubject(app: app, user: nil, transactionID: id, environment: environment, purchase: nil)
    }

    /// A purchase that is known.
    static func purchase(_ transaction: Transaction) -> ConsentSubject {
        ConsentSubject(
            app: "coins", user: nil, transactionID: transaction.transactionID, environment: transaction.environment,
            purchase: transaction.facts)
    }
}

extension UsageReport {
    /// A report with what a test cares about.
    package static func sample(
        _ transaction: String, _ percentage: Int32, at seconds: TimeInterval, user: String? = nil,
        environment: AppStoreEnvironment? = nil, recorded: TimeInterval = 5000
    ) throws -> UsageReport {
        sample(.transaction(transaction, user: try user.map(UserID.init)), percentage, seconds, environment, recorded)
    }

    /// A report about a user's product.
    package static func sample(
        product: String, of user: String, _ percentage: Int32, at seconds: TimeInterval,
        environment: AppStoreEnvironment? = nil
    ) throws -> UsageReport {
        sample(.product(product, user: try UserID(user)), percentage, seconds, environment, 5000)
    }

    private static func sample(
        _ subject: Subject, _ percentage: Int32, _ seconds: TimeInterval, _ environment: AppStoreEnvironment?,
        _ recorded: TimeInterval
    ) -> UsageReport {
        var facts = UsageFacts()
        facts.deliveryStatus = .delivered
        facts.consumptionPercentage = percentage
        return UsageReport(
            app: "coins", subject: subject, environment: environment, facts: facts,
            at: Date(timeIntervalSince1970: seconds), recordedAt: Date(timeIntervalSince1970: recorded),
            recordedBy: "shop")
    }
}
