import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import OpenSSL
import TestSupport
import Testing

/// Receipts from a device to Apple's answer, with the real daemon and signatures.
struct ReceiptTests {
    @Test func `a good receipt is confirmed, and its purchases are its user's from then on`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .sandbox).id
            try fixture.buy(account)
            let refunded = try #require(try fixture.buy(account, "gems.500").transactionId)
            try fixture.simulator.state.refund(refunded)
            let reply = try await fixture.upload(
                fixture.receipt(of: account),
                ["user_identifier": "ann", "country_code": "DE", "metadata": ["campaign": "spring"]])
            #expect(reply.status == 200)
            let answer = try reply.json
            #expect(answer["style"] == "unified" && answer["environment"] == "sandbox")
            #expect(answer["is_fraud"] == false && answer["bundle_id"] == .string(DaemonFixture.bundleID))
            let purchases = try #require(answer["in_app_purchases"]?.array)
            #expect(purchases.map { $0["product_id"] } == ["gems", "gems.500"])
            #expect(purchases[0]["canceled_at"] == .null && purchases[1]["canceled_at"] != .null)
            #expect(purchases[0]["last_synced_at"]?["ms"] != nil, "Apple has confirmed it")
            #expect(fixture.calls(.getTransactionHistory) == 1, "one call for the whole account")
            let id = try #require(answer["id"]?.string)
            try await fixture.receiptEvent("receipt.confirmed", about: id)
            #expect(try await fixture.receipt(id)["in_app_purchases"]?.array?.count == 2)
            let refunds = try await fixture.send("GET", "\(DaemonFixture.app)/users/ann/refunds")
            #expect(refunds.status == 200 && String(decoding: refunds.body, as: UTF8.self).contains(refunded))
        }
    }

    @Test func `old receipts with SHA-1 are good, and those that Apple would not issue are not`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .production).id
            try fixture.buy(account)
            let old = try fixture.receipt(of: account, ReceiptForm(.sha1)) {
                $0.creationDate = Date(timeIntervalSince1970: 1_480_000_000)
            }
            #expect(try await fixture.upload(old).status == 200)
            let late = try fixture.receipt(of: account, ReceiptForm(.sha1)) {
                // A month after the last receipt with SHA-1.
                $0.creationDate = Date(timeIntervalSince1970: 1_740_000_000)
            }
            #expect(try await fixture.upload(late).status == 402)
        }
    }

    @Test func `nothing of a forged receipt is kept or asked about`() async throws {
        try await DaemonFixture.with { fixture in
            let account = try fixture.simulator.state.createAccount(in: .sandbox).id
            try fixture.buy(account)
            for tampering in ReceiptTampering.allCases {
                let receipt = try fixture.receipt(of: account, ReceiptForm(tampering))
                let reply = try await fixture.upload(receipt, ["user_identifier": "mallory"])
                #expect(reply.status == (tampering == .truncated ? 422 : 402), "\(tampering)")
            }
            let xcode = try fixture.simulator.receipts.xcodeReceipt(
                fixture.simulator.state.appReceipt(of: account, in: DaemonFixture.bundleID))
            let other = try fixture.receipt(of: account) { $0.bundleID = "com.example.other" }
            for receipt in [Data(xcode).base64EncodedString(), other] {
                let reply = try await fixture.upload(receipt)
                #expect(reply.status == 422)
                #expect(try reply.json["errors"]?["receipt"]?.array?.isEmpty == false)
            }
            #expect(try await fixture.send("GET", DaemonFixture.receipts).json["receipts"] == [])
            #expect(fixture.calls(.getTransactionHistory) == 0 && fixture.calls(.getTransactionInfo) == 0)
            #expect(try await fixture.send("GET", "\(DaemonFixture.app)/users/mallory/links").json["links"] == [])
        }
    }

    @Test func `what Apple cannot be asked about is confirmed later, also after the daemon was killed`() async throws {
        try await DaemonStage.with(appleTimes: .short) { stage in
            let account = try stage.simulator.state.createAccount(in: .sandbox).id
            var purchase = TransactionPayload()
            purchase.bundleId = DaemonStage.bundleID
            purchase.productId = "gems"
            purchase.type = .consumable
            try stage.simulator.state.buy(purchase, by: account)
            let receipt = try stage.simulator.receipts.appReceipt(
                stage.simulator.state.appReceipt(of: account, in: DaemonStage.bundleID))
            let path = "/v1/apps/coins/receipts"

            stage.simulator.state.inject(Fault(.connectionReset()))
            var daemon = try await stage.start()
            let body: JSONValue = ["receipt": .string(Data(receipt).base64EncodedString()), "user_identifier": "ann"]
            let reply = try #require(await stage.api().send("POST", path, body: body))
            #expect(reply.status == 206 && reply.headers["cache-control"] == "no-store")
            let id = try #require(reply.json?["id"]?.string)
            #expect(reply.json?["is_fraud"] == false && reply.json?["in_app_purchases"]?.array?.count == 1)
            try await daemon.kill()

            stage.simulator.state.removeAllFaults()
            daemon = try await stage.start()
            var cursor = "0"
            try await Wait.until("the event of the confirmation") {
                let page = await stage.api().send("GET", "/v1/apps/coins/events?after=\(cursor)&wait=20")?.json
                cursor = try #require(page?["cursor"]?.string)
                return page?["events"]?.array?.contains {
                    $0["type"] == "purser.receipt.confirmed" && $0["data"]?["receiptId"]?.string == id
                } == true
            }
            let confirmed = try #require(await stage.api().send("GET", "\(path)/\(id)")?.json)
            #expect(confirmed["is_fraud"] == false && confirmed["user_identifier"] == "ann")
            #expect(confirmed["in_app_purchases"]?[0]?["last_synced_at"]?["ms"] != nil)
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `what Apple has not known for a day is fraud`() async throws {
        try await DaemonFixture.withTime { time, run in
            let (ids, next) = AsyncStream.makeStream(of: String.self)
            try await run { fixture in
                let account = try fixture.simulator.state.createAccount(in: .sandbox).id
                try fixture.buy(account)
                let invented = try fixture.receipt(of: account) {
                    $0.purchases[0].transactionID = "20000000000000009"
                    $0.purchases[0].originalTransactionID = "20000000000000009"
                }
                let reply = try await fixture.upload(invented, ["user_identifier": "mallory"])
                #expect(reply.status == 206)
                #expect(try reply.json["is_fraud"] == false)
                next.yield(try #require(try reply.json["id"]?.string))
                next.finish()
            }
            time.advance(by: 90_000)
            var known: [String] = []
            for await id in ids { known.append(id) }
            let id = try #require(known.first)
            try await run { fixture in
                try await fixture.receiptEvent("receipt.fraud", about: id)
                let receipt = try await fixture.receipt(id)
                #expect(receipt["is_fraud"] == true && receipt["fraud_reason"] == "UNKNOWN_TO_APPLE")
            }
        }
    }
}
