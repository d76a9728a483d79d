import Foundation
import TestSupport
import Testing

@testable import Domain

/// Whom and where Apple is asked, and what follows from its answers.
struct ReceiptRulesTests {
    @Test func `the newest purchases are asked about, one of each and three at most`() {
        let content = ReceiptContent.sample(
            .sample("1", purchased: 1), .sample("5", original: "1", purchased: 50), .sample("2", purchased: 20),
            .sample("3", purchased: 30), .sample("4", purchased: 40))
        #expect(ReceiptRules.questions(about: content) == ["5", "4", "3"])
        #expect(ReceiptRules.questions(about: .empty).isEmpty)
    }

    @Test func `the environment that the receipt names comes first, of those that are allowed`() throws {
        let both = ReceiptFixture.app
        let production = App(slug: "coins", bundleID: "com.example.coins", environments: [.production])
        func environments(_ name: String?, _ app: App) throws -> [AppStoreEnvironment] {
            ReceiptRules.environments(of: try .draft("r", .sample(environment: name)), app: app)
        }
        #expect(try environments("Production", both) == [.production, .sandbox])
        #expect(try environments("ProductionSandbox", both) == [.sandbox, .production])
        #expect(try environments(nil, both) == [.production, .sandbox])
        #expect(try environments("Sandbox", production) == [.production])
    }

    @Test(arguments: [("Sandbox", true), ("Production", false)])
    func `an app without a release has nothing in production, unless Apple has signed that it has`(
        environment: String, isUnknown: Bool
    ) async throws {
        try await ReceiptFixture.with(accounts: []) { fixture in
            fixture.gateway.fail(
                "1", in: .production, with: ServiceError(.noProductionRelease, "This app has no release."))
            let answer = try await fixture.upload(.sample(environment: environment))
            #expect(answer.isQueued)
            #expect((answer.receipt?.unknownSince != nil) == isUnknown)
        }
    }

    @Test func `where the receipt's own environment does not answer, no other is asked`() async throws {
        try await ReceiptFixture.with { fixture in
            fixture.gateway.fail("1", in: .production, with: .outOfReach)
            _ = try await fixture.upload()
            #expect(fixture.gateway.calls.map(\.environment) == [.production])
        }
    }

    @Test func `what is out of reach in one environment may be found in the other`() async throws {
        let account = [Transaction.sample(id: "1", account: "A", environment: .sandbox)]
        try await ReceiptFixture.with(accounts: [account]) { fixture in
            fixture.gateway.fail("1", in: .production, with: .outOfReach)
            let answer = try await fixture.upload(.sample(style: .transaction, environment: nil))
            #expect(answer.isConfirmed && answer.receipt?.environment == .sandbox)
        }
    }

    @Test func `Apple is asked about other purchases where it does not know the newest`() async throws {
        try await ReceiptFixture.with { fixture in
            let content = ReceiptContent.sample(.sample("1", purchased: 1), .sample("404", purchased: 2))
            let answer = try await fixture.upload(content)
            #expect(answer.isConfirmed)
            #expect(
                fixture.gateway.questions == [.history("404", revision: nil), .history("1", revision: nil)])
        }
    }

    @Test func `a doubtful time is no time since which Apple has not known it`() throws {
        let receipt = try Receipt.draft("r")
        let now = CaseModel.time(30)
        var known = receipt
        known.unknownSince = CaseModel.time(0)
        func concluded(_ receipt: Receipt, isCertain: Bool) -> Receipt {
            ReceiptRules.conclude(
                receipt,
                ReceiptConclusion(
                    receipt, outcome: .unknown, at: now, isTimeCertain: isCertain, nextAttemptAt: CaseModel.time(31),
                    usersPerTransaction: 3), hasLinkConflict: false, users: 0)
        }
        #expect(concluded(receipt, isCertain: false).unknownSince == nil)
        #expect(concluded(receipt, isCertain: true).unknownSince == now)
        #expect(concluded(known, isCertain: false).state == .queued)
        #expect(concluded(known, isCertain: true).fraudReason == .unknown)
    }

    @Test func `at most a thousand transactions and two hundred identifiers are kept, the newest`() throws {
        let numbers = 1...1200
        let content = ReceiptContent.sample(numbers.map { .sample("\($0)", purchased: TimeInterval($0)) })
        let answer = numbers.map { Transaction.sample(id: "\($0)", account: "A", purchased: TimeInterval($0)) }
        let receipt = try Receipt.draft("r", content)
        let kept = ReceiptRules.merged(receipt, answer, at: CaseModel.time(0))
        #expect(kept.count == 1000 && kept["1200"] != nil && kept["200"] == nil)
        let identifiers = ReceiptRules.identifiers(of: receipt, answer)
        #expect(identifiers.count == 200 && identifiers.first == "account A")
        #expect(identifiers.contains("Production 1200") && !identifiers.contains("Production 1001"))
        let links = ReceiptRules.taught(by: receipt, answer, at: CaseModel.time(0))
        #expect(links.count == 200 && links.allSatisfy { $0.source == .receipt })
        #expect(links.contains { $0.target == LinkTarget(.appTransactionId, "A") })
    }
}
