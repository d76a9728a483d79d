import AppStoreAPI
import AppStoreSimulator
import Curl
import JSON
import Testing

/// The histories that Apple has deprecated, and Finish Transaction, of which one of them takes notice.
struct VersionOneTests {
    private func history(
        _ fixture: SimulatorFixture, _ identifier: String, _ query: HistoryQuery = HistoryQuery()
    ) async throws -> [String?] {
        let answer = try await fixture.answer(
            HistoryResponse.self, .getTransactionHistoryV1(transactionId: identifier, query: query))
        return try (answer.signedTransactions ?? []).map { try fixture.verified($0).transactionId }
    }

    private func finish(_ fixture: SimulatorFixture, _ id: String) async throws {
        let response = try await fixture.call(.finishTransaction(transactionId: id))
        #expect(response.status == 200 && response.body.isEmpty)
    }

    @Test func `finished consumables leave version 1 unless they are revoked`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            func buy(_ type: ProductType) throws -> String {
                try #require(try fixture.buy(by: account) { $0.type = type }.transactionId)
            }
            let open = try buy(.consumable)
            let finished = try buy(.consumable)
            let refunded = try buy(.consumable)
            let pass = try buy(.nonConsumable)
            for id in [finished, finished, refunded, pass] { try await finish(fixture, id) }
            try fixture.state.refund(refunded)
            #expect(try await history(fixture, open) == [open, pass, refunded])
            let second = try await fixture.answer(
                HistoryResponse.self, .getTransactionHistory(transactionId: open))
            #expect(second.signedTransactions?.count == 4)
        }
    }

    @Test func `excludeRevoked filters, and says so when it is wrong`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            let kept = try #require(try fixture.buy(by: account).transactionId)
            let refunded = try #require(try fixture.buy(by: account).transactionId)
            try fixture.state.refund(refunded)
            func count(_ value: String) async throws -> Int? {
                let endpoint = Endpoint(.getTransactionHistoryV1, [kept], query: [.init("excludeRevoked", value)])
                return try await fixture.answer(HistoryResponse.self, endpoint).signedTransactions?.count
            }
            #expect(try await count("true") == 1)
            #expect(try await count("False") == 2)
            for query: [QueryParameter] in [
                [.init("excludeRevoked", "")], [.init("excludeRevoked", "yes")],
                [.init("excludeRevoked", "true"), .init("excludeRevoked", "true")],
            ] {
                try await fixture.expect(
                    .invalidExcludeRevoked, from: Endpoint(.getTransactionHistoryV1, [kept], query: query))
            }
        }
    }

    @Test func `version 1 pages and checks as version 2 does`() async throws {
        try await SimulatorFixture.with { fixture in
            fixture.state.pageSize = 2
            let account = try fixture.state.createAccount(in: .sandbox).id
            let ids = try (0..<3).map { _ in try #require(try fixture.buy(by: account).transactionId) }
            let first = try await fixture.answer(HistoryResponse.self, .getTransactionHistoryV1(transactionId: ids[0]))
            #expect(first.hasMore == true && first.signedTransactions?.count == 2)
            #expect(try await history(fixture, ids[0], HistoryQuery(revision: first.revision)) == [ids[2]])
            let wrong: [(QueryParameter, APIErrorCode)] = [
                (.init("revision", "x"), .invalidRequestRevision), (.init("startDate", "x"), .invalidStartDate),
                (.init("endDate", "-1"), .invalidEndDate), (.init("productId", ""), .invalidProductId),
                (.init("productType", "COIN"), .invalidProductType), (.init("sort", "UP"), .invalidSort),
                (.init("subscriptionGroupIdentifier", ""), .invalidSubscriptionGroupIdentifier),
                (.init("inAppOwnershipType", "MINE"), .invalidInAppOwnershipType),
                (.init("revoked", "1"), .invalidRevoked),
            ]
            for (parameter, error) in wrong {
                try await fixture.expect(error, from: Endpoint(.getTransactionHistoryV1, [ids[0]], query: [parameter]))
            }
            try await fixture.expect(.invalidTransactionId, from: .getTransactionHistoryV1(transactionId: "x"))
            try await fixture.expect(.transactionIdNotFound, from: .getTransactionHistoryV1(transactionId: "1"))
        }
    }

    @Test func `only a transaction can be finished`() async throws {
        try await SimulatorFixture.with { fixture in
            let download = try #require(try fixture.buyOnce().appTransactionId)
            let far = try #require(try fixture.buyOnce(in: .production).transactionId)
            try await fixture.expect(.appTransactionIdNotSupported, from: .finishTransaction(transactionId: download))
            try await fixture.expect(.transactionIdNotFound, from: .finishTransaction(transactionId: far))
            try await fixture.expect(.invalidTransactionId, from: .finishTransaction(transactionId: "x"))
        }
    }

    @Test func `version 1 of the refunds holds the 50 latest, the latest first`() async throws {
        try await SimulatorFixture.with { fixture in
            let account = try fixture.state.createAccount(in: .sandbox).id
            var dates: [Int64] = []
            var last = ""
            for index in 0..<55 {
                last = try #require(try fixture.buy(by: account).transactionId)
                dates.append(fixture.clock.milliseconds + Int64(index * 7 % 55))
                try fixture.state.refund(last, Refund(date: dates[index]))
            }
            let answer = try await fixture.answer(
                RefundLookupResponse.self, .getRefundHistoryV1(originalTransactionId: last))
            let found = try (answer.signedTransactions ?? []).map { try fixture.verified($0).revocationDate }
            #expect(found == Array(dates.sorted(by: >).prefix(50)))
            let none = try #require(try fixture.buyOnce().transactionId)
            let empty = try await fixture.answer(
                RefundLookupResponse.self, .getRefundHistoryV1(originalTransactionId: none))
            #expect(empty.signedTransactions == [])
        }
    }

    @Test func `version 1 of the refunds takes original transaction ids only`() async throws {
        try await SimulatorFixture.with { fixture in
            let bought = try fixture.subscribe()
            let id = try #require(bought.transactionId)
            let renewed = try #require(try fixture.state.renew(id).transactionId)
            let far = try #require(try fixture.buyOnce(in: .production).transactionId)
            let download = try #require(bought.appTransactionId)
            for other in [renewed, far, download, "1"] {
                try await fixture.expect(
                    .originalTransactionIdNotFound, from: .getRefundHistoryV1(originalTransactionId: other))
            }
            try await fixture.expect(
                .invalidOriginalTransactionId, from: .getRefundHistoryV1(originalTransactionId: "x"))
        }
    }
}
