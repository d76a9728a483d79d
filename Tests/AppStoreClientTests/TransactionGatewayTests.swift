import Domain
import TestSupport
import Testing

@testable import AppStoreClient

struct TransactionGatewayTests {
    private let signer: TestSigner
    private let parts: UpstreamFixture.Dependencies

    init() throws {
        signer = try TestSigner()
        var parts = UpstreamFixture.Dependencies()
        parts.signer = signer
        self.parts = parts
    }

    @Test func `an id that Production does not know is asked of the sandbox, and remembered there`() async throws {
        let signed = try signer.transaction("7", environment: "Sandbox")
        try await UpstreamFixture.run(
            parts,
            handler: { request in
                request.path.hasPrefix("/production")
                    ? .apple(4_040_010) : .init(#"{"signedTransactionInfo":"\#(signed)"}"#)
            },
            during: { fixture in
                for _ in 0..<2 {
                    let found = try await fixture.client.transaction("7", fixture.call(nil))
                    #expect(found.environment == .sandbox)
                }
                #expect(fixture.server.requests.map { $0.path.hasPrefix("/sandbox") } == [false, true, true])
                await #expect(throws: ServiceError(.appleRejected, "")) {
                    try await fixture.client.transaction("7", fixture.call(.production))
                }
            })
    }

    @Test func `what answers about receipts tell of a transaction is read, and whose it is not`() async throws {
        let others = #"""
            ,"quantity":2,"currency":"EUR","price":9990,"storefront":"DEU","originalPurchaseDate":1600000000000,\#
            "offerDiscountType":"FREE_TRIAL","isUpgraded":true
            """#
        let answers = [
            "7": try signer.transaction("7", others), "8": try signer.transaction("8"),
            "9": try signer.transaction("9", bundleID: "com.example.others"),
        ]
        try await UpstreamFixture.run(
            parts,
            handler: { request in
                let signed = answers.first { request.path.hasSuffix("/\($0.key)") }?.value ?? ""
                return .init(#"{"signedTransactionInfo":"\#(signed)"}"#)
            },
            during: { fixture in
                let details = try await fixture.client.transaction("7", fixture.call(.production)).details
                #expect(details.quantity == 2 && details.currency == "EUR" && details.price == 9990)
                #expect(details.storefront == "DEU" && details.originalPurchaseDate?.milliseconds == 1_600_000_000_000)
                #expect(details.offerDiscountType == "FREE_TRIAL" && details.isUpgraded)
                let least = try await fixture.client.transaction("8", fixture.call(.production)).details
                #expect(least == TransactionDetails())
                do {
                    _ = try await fixture.client.transaction("9", fixture.call(.production))
                    Issue.record("another app's transaction was taken")
                } catch let error as ServiceError {
                    #expect(error.reason == .appleAnswerInvalid && error.cause == ServiceError.otherAppCause)
                }
            })
    }

    @Test func `an answer about another transaction is none`() async throws {
        let signed = try signer.transaction("8")
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(#"{"signedTransactionInfo":"\#(signed)"}"#) },
            during: { fixture in
                let found = try await fixture.client.transaction("8", fixture.call())
                #expect(found.transactionID == "8")
                await #expect(throws: ServiceError(.appleAnswerInvalid, "")) {
                    try await fixture.client.transaction("7", fixture.call())
                }
            })
    }

    @Test func `4040005 leads to the sandbox only where the path takes an original transaction id`() async throws {
        try await UpstreamFixture.run(
            parts,
            handler: { $0.path.hasPrefix("/production") ? .apple(4_040_005) : .init("{}") },
            during: { fixture in
                let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
                let place = try await fixture.client.setAppAccountToken(
                    token, originalTransactionID: "7", fixture.call(nil))
                #expect(place == .sandbox)
                #expect(fixture.server.requests.map(\.method) == ["PUT", "PUT"])
                #expect(fixture.server.requests.last?.body == Array(#"{"appAccountToken":"\#(token)"}"#.utf8))
                await #expect(throws: ServiceError(.appleRejected, "")) {
                    try await fixture.client.historyPage("8", filter: HistoryFilter(), revision: nil, fixture.call(nil))
                }
                #expect(fixture.server.requests.count == 3)
            })
    }

    @Test(arguments: [4_000_002, 4_040_003, 4_040_004])
    func `an app that Apple does not know is our configuration's fault`(code: Int) async throws {
        try await UpstreamFixture.run(
            parts, handler: { _ in .apple(code) },
            during: { fixture in
                do throws(ServiceError) {
                    _ = try await fixture.client.transaction("7", fixture.call(nil))
                    Issue.record("it must fail")
                } catch {
                    #expect(error.reason.rawValue == "apple-app-unknown")
                    #expect(error.apple?.errorCode == Int64(code) && error.cause?.contains("bundle id") == true)
                    #expect(!error.isFinalRefusal, "once the configuration is mended, it can be sent")
                }
                #expect(fixture.server.requests.allSatisfy { $0.path.hasPrefix("/production") }, "it is not elsewhere")
            })
    }

    @Test func `a transaction is finished where it is found, once`() async throws {
        try await UpstreamFixture.run(
            parts,
            handler: { $0.path.hasPrefix("/production") ? .apple(4_040_010) : .init(status: 200) },
            during: { fixture in
                let place = try await fixture.client.finish("7", fixture.call(nil))
                #expect(place == .sandbox)
                #expect(
                    fixture.server.requests.map(\.path) == [
                        "/production/inApps/v1/transactions/7/finish", "/sandbox/inApps/v1/transactions/7/finish",
                    ])
            })
    }

    @Test func `an app transaction is verified and comes with its id`() async throws {
        let signed = try signer.appTransaction()
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(#"{"signedAppTransactionInfo":"\#(signed)"}"#) },
            during: { fixture in
                let found = try await fixture.client.appTransaction("7", fixture.call(nil))
                #expect(found.appTransactionID == "70" && found.environment == .production)
                #expect(found.data.signed == signed)
            })
    }

    @Test func `an order is looked up in Production alone`() async throws {
        let signed = try signer.transaction()
        let answers = Script([
            .init(#"{"status":0,"signedTransactions":["\#(signed)"]}"#), .init(#"{"status":1}"#), .init("{}"),
        ])
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                let order = try await fixture.client.order("MK5V", fixture.call(nil))
                #expect(order.isValid && order.transactions.map(\.transactionID) == ["1000"])
                let unknown = try await fixture.client.order("MK5V", fixture.call(.production))
                #expect(!unknown.isValid && unknown.transactions.isEmpty)
                await #expect(throws: ServiceError(.appleAnswerInvalid, "")) {
                    try await fixture.client.order("MK5V", fixture.call(nil))
                }
                await #expect(throws: ServiceError(.environmentNotAllowed, "")) {
                    try await fixture.client.order("MK5V", fixture.call(.sandbox))
                }
                #expect(Set(fixture.server.requests.map(\.path)) == ["/production/inApps/v1/lookup/MK5V"])
            })
    }

    @Test func `the deprecated lists have paths of their own`() async throws {
        let signed = try signer.transaction()
        try await UpstreamFixture.run(
            parts,
            handler: { _ in .init(#"{"signedTransactions":["\#(signed)"],"revision":"r","hasMore":true}"#) },
            during: { fixture in
                let history = try await fixture.client.historyPageV1(
                    "7", filter: HistoryFilter(), revision: "q", fixture.call(nil))
                #expect(history.hasMore && history.revision == "r")
                let refunds = try await fixture.client.refundsV1(originalTransactionID: "7", fixture.call(nil))
                #expect(!refunds.hasMore && refunds.transactions.count == 1)
                #expect(
                    fixture.server.requests.map(\.path) == [
                        "/production/inApps/v1/history/7?revision=q", "/production/inApps/v1/refund/lookup/7",
                    ])
            })
    }

    @Test func `one answer that does not verify fails the page`() async throws {
        let good = try signer.transaction()
        let foreign = try signer.transaction(bundleID: "com.example.gems")
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(#"{"signedTransactions":["\#(good)","\#(foreign)"]}"#) },
            during: { fixture in
                await #expect(throws: ServiceError(.appleAnswerInvalid, "")) {
                    try await fixture.client.refundPage("7", revision: nil, fixture.call(nil))
                }
            })
    }
}
