import AppStoreAPI
import AppStoreSimulator
import Curl
import Foundation
import JOSE
import Testing

struct HistoryTests {
    /// Reads all pages of a query, checking what every page must say.
    private func history(
        _ fixture: SimulatorFixture, _ identifier: String, _ query: HistoryQuery = HistoryQuery(), pageSize: Int = 20
    ) async throws -> [TransactionPayload] {
        var query = query
        var found: [TransactionPayload] = []
        while true {
            let response = try await fixture.call(.getTransactionHistory(transactionId: identifier, query: query))
            try #require(response.status == 200)
            let page = try HistoryResponse(parsing: response.body)
            #expect(page.bundleId == SimulatorFixture.bundleID)
            #expect(page.appAppleId == 1_234_567_890)
            #expect(page.environment == .sandbox)
            let signed = try #require(page.signedTransactions)
            #expect(signed.count <= pageSize)
            for transaction in signed { found.append(try fixture.verified(transaction)) }
            query.revision = page.revision
            #expect(page.revision?.isEmpty == false)
            guard page.hasMore == true else { return found }
            #expect(signed.count == pageSize)
        }
    }

    @Test func `pages of 20 hold each transaction once, oldest change first`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let bought = try (0..<45).map { _ in try fixture.buy(by: account).transactionId }
            let id = try #require(bought.first ?? nil)
            #expect(try await history(fixture, id).map(\.transactionId) == bought)
            let descending = try await history(fixture, id, HistoryQuery(sort: .descending))
            #expect(descending.map(\.transactionId) == bought.reversed())
        }
    }

    @Test(arguments: [0, 1, 2, 3, 4, 6])
    func `any number of transactions fills pages to the last`(count: Int) async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.pageSize = 2
            let account = try fixture.state.createAccount(in: .sandbox).id
            let first = try #require(try fixture.buy(by: account) { $0.productId = "other" }.transactionId)
            for _ in 0..<count { _ = try fixture.buy(by: account) }
            let found = try await history(fixture, first, HistoryQuery(productIds: ["coins.100"]), pageSize: 2)
            #expect(found.count == count)
        }
    }

    @Test func `every identifier of the customer leads to the same history`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let first = try fixture.buy(by: account)
            let second = try fixture.buy(by: account)
            for identifier in [first.transactionId, second.transactionId, first.appTransactionId] {
                #expect(try await history(fixture, #require(identifier)).count == 2)
            }
        }
    }

    @Test func `histories of other accounts and apps stay apart`() async throws {
        try await SimulatorFixture.with { fixture in
            try fixture.state.register(
                RegisteredApp(bundleID: "com.example.other", appAppleID: 2, issuerID: SimulatorFixture.issuerID))
            let account = try fixture.state.createAccount(in: .sandbox).id
            let mine = try fixture.buy(by: account)
            let otherApp = try fixture.buy(by: account) { $0.bundleId = "com.example.other" }
            let stranger = try fixture.buyOnce()
            let id = try #require(mine.transactionId)
            #expect(try await history(fixture, id).map(\.transactionId) == [id])
            #expect(Set([mine.appTransactionId, otherApp.appTransactionId, stranger.appTransactionId]).count == 3)
        }
    }

    @Test func `a last revision leads to what changed since, an old purchase that was refunded included`() async throws
    {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let first = try #require(try fixture.buy(by: account).transactionId)
            _ = try fixture.buy(by: account)
            let page = try HistoryResponse(
                parsing: try await fixture.call(.getTransactionHistory(transactionId: first)).body)
            var query = HistoryQuery()
            query.revision = page.revision
            #expect(try await history(fixture, first, query).isEmpty)
            let third = try fixture.buy(by: account).transactionId
            try fixture.state.refund(first)
            #expect(try await history(fixture, first, query).map(\.transactionId) == [third, first])
        }
    }

    @Test func `filters of dates include the start and exclude the end`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let start = fixture.clock.milliseconds
            for offset in 0..<3 {
                _ = try fixture.buy(by: account) {
                    $0.purchaseDate = start + Int64(offset)
                    $0.productId = "coins.\(offset)"
                }
            }
            let any = try #require(try fixture.buy(by: account) { $0.purchaseDate = start - 1 }.transactionId)
            let both = HistoryQuery(startDate: start, endDate: start + 2)
            #expect(try await history(fixture, any, both).map(\.productId) == ["coins.0", "coins.1"])
            #expect(try await history(fixture, any, HistoryQuery(startDate: start + 1)).count == 2)
            #expect(try await history(fixture, any, HistoryQuery(endDate: start + 1)).count == 2)
        }
    }

    @Test func `values of a filter are alternatives, filters add up`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox, family: "f").id
            let member = try fixture.state.createAccount(in: .sandbox, family: "f").id
            let types: [ProductType] = [
                .consumable, .nonConsumable, .autoRenewableSubscription, .nonRenewingSubscription,
            ]
            var ids: [String] = []
            for (index, type) in types.enumerated() {
                let bought = try fixture.buy(by: account) {
                    $0.type = type
                    $0.productId = "product.\(index)"
                    if type == .autoRenewableSubscription { $0.subscriptionGroupIdentifier = "7" }
                }
                ids.append(try #require(bought.transactionId))
            }
            try fixture.state.refund(ids[0])
            func products(_ query: HistoryQuery, _ id: String? = nil) async throws -> Set<String> {
                Set(try await history(fixture, id ?? ids[0], query).compactMap(\.productId))
            }
            #expect(try await products(HistoryQuery(productTypes: [.consumable])) == ["product.0"])
            #expect(try await products(HistoryQuery(productTypes: [.nonConsumable])) == ["product.1"])
            #expect(try await products(HistoryQuery(productTypes: [.autoRenewable])) == ["product.2"])
            #expect(try await products(HistoryQuery(productTypes: [.nonRenewable])) == ["product.3"])
            #expect(
                try await products(HistoryQuery(productTypes: [.consumable, .nonRenewable])) == [
                    "product.0", "product.3",
                ])
            #expect(
                try await products(HistoryQuery(productIds: ["product.0", "product.1"], productTypes: [.consumable]))
                    == [
                        "product.0"
                    ])
            #expect(try await products(HistoryQuery(subscriptionGroupIdentifiers: ["6", "7"])) == ["product.2"])
            #expect(try await products(HistoryQuery(revoked: true)) == ["product.0"])
            #expect(try await products(HistoryQuery(revoked: false)).count == 3)
            #expect(try await products(HistoryQuery(inAppOwnershipType: .purchased)).count == 4)
            #expect(try await products(HistoryQuery(inAppOwnershipType: .familyShared)).isEmpty)
            let shared = try fixture.state.share(ids[1], with: member).transactionId
            let family = HistoryQuery(inAppOwnershipType: .familyShared)
            #expect(try await products(family, shared) == ["product.1"])
        }
    }

    @Test(
        arguments: [
            ("startDate=x", .invalidStartDate), ("startDate=-1", .invalidStartDate), ("startDate=", .invalidStartDate),
            ("startDate=1&startDate=2", .invalidStartDate), ("endDate=1.5", .invalidEndDate),
            ("endDate", .invalidEndDate),
            ("startDate=2&endDate=2", .startDateAfterEndDate), ("startDate=3&endDate=2", .startDateAfterEndDate),
            ("productId=", .invalidProductId), ("productType=Consumable", .invalidProductType),
            ("productType=CONSUMABLE&productType=x", .invalidProductType), ("sort=ascending", .invalidSort),
            ("sort=ASCENDING&sort=ASCENDING", .invalidSort),
            ("subscriptionGroupIdentifier=", .invalidSubscriptionGroupIdentifier),
            ("inAppOwnershipType=OWNED", .invalidInAppOwnershipType), ("revoked=1", .invalidRevoked),
            ("revoked=", .invalidRevoked), ("revision=", .invalidRequestRevision),
            ("revision=abc", .invalidRequestRevision),
        ] as [(String, APIErrorCode)])
    func `a wrong parameter has an error of its own`(query: String, error: APIErrorCode) async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            let url = fixture.simulator.baseURL(.sandbox) + "/inApps/v2/history/\(id)?\(query)"
            let headers = [(name: "Authorization", value: "Bearer \(try fixture.token())")]
            let response = try await fixture.send("GET", url, headers: headers)
            #expect(response.status == 400)
            #expect(try ErrorPayload(parsing: response.body).errorCode == error.code)
        }
    }

    @Test(arguments: ["revoked=False", "revoked=false", "unknown=1", "endDate=99999999999999", "sort=DESCENDING&"])
    func `what Apple's libraries send, and what Apple does not know, passes`(query: String) async throws {
        try await SimulatorFixture.with { fixture in
            let id = try #require(try fixture.buyOnce().transactionId)
            let url = fixture.simulator.baseURL(.sandbox) + "/inApps/v2/history/\(id)?\(query)"
            let headers = [(name: "Authorization", value: "Bearer \(try fixture.token())")]
            let response = try await fixture.send("GET", url, headers: headers)
            #expect(try HistoryResponse(parsing: response.body).signedTransactions?.count == 1)
        }
    }

    @Test func `a revision of another query, customer or list is refused`() async throws {
        try await SimulatorFixture.with { fixture in
            let mine = try #require(try fixture.buyOnce().transactionId)
            let other = try #require(try fixture.buyOnce().transactionId)
            let body = try await fixture.call(.getTransactionHistory(transactionId: mine)).body
            let revision = try #require(try HistoryResponse(parsing: body).revision)
            let same = HistoryQuery(revision: revision)
            #expect(try await fixture.call(.getTransactionHistory(transactionId: mine, query: same)).status == 200)
            let changed = HistoryQuery(sort: .descending, revision: revision)
            let foreign: [Endpoint] = [
                .getTransactionHistory(transactionId: mine, query: changed),
                .getTransactionHistory(transactionId: other, query: same),
                .getRefundHistory(transactionId: mine, revision: revision),
            ]
            for endpoint in foreign { try await fixture.expect(.invalidRequestRevision, from: endpoint) }
        }
    }
}
