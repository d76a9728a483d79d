import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import TestSupport
import Testing

/// Everything that is kept of a user, out of a whole daemon.
struct UserExportTests {
    private static let parts = [
        "links", "consent", "usage", "cases", "deliveries", "notifications", "appleAnswers",
        "quarantinedNotifications", "receipts",
        "events",
    ]

    @Test func `what a customer's refund request leaves behind is exported, and gone after an erasure`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let (user, account, transaction) = try await fixture.customer()
            let path = "\(DaemonFixture.app)/users/\(user)"
            let consent =
                #"{"consented":true,"source":"ios-app 5.2","wordingVersion":"3.1","locale":"de-CH","guardian":false}"#
            #expect(try await fixture.send("PUT", "\(path)/consent", body: consent).status == 200)
            _ = try await fixture.send(
                "PUT", "\(DaemonFixture.app)/transactions/\(transaction)/usage",
                body: #"{"deliveryStatus":"DELIVERED","consumptionPercentage":25000}"#)
            _ = try await fixture.requestRefund(of: transaction)
            let answer = DaemonFixture.consumption(("consumptionPercentage", 25000), ("refundPreference", "DECLINE"))
            #expect(try await fixture.send("POST", "\(path)/consumption", body: answer).status == 200)
            // Another purchase of the same Apple Account, which is somebody else's.
            let token = UUID().uuidString.lowercased()
            let other = try #require(try fixture.buy(account, token: token).transactionId)
            let link = "\(DaemonFixture.app)/users/\(token)/links/transactionId/\(other)"
            #expect(try await fixture.send("PUT", link).status == 201)
            _ = try await fixture.requestRefund(of: other)
            let asked = "\(DaemonFixture.app)/transactions/\(transaction)"
            #expect(try await fixture.send("GET", asked).status == 200)
            try await Wait.until("the answer to be kept") {
                try await fixture.send("GET", "\(path):export").json["counts"]?["appleAnswers"] == 1
            }
            let exported = try await fixture.send("GET", "\(path):export")
            #expect(exported.status == 200)
            let export = try exported.json
            #expect(export["complete"] == true && export["withheld"] == 0)
            for part in Self.parts {
                #expect(export["counts"]?[part]?.int64 == export[part]?.array.map { Int64($0.count) }, "\(part)")
            }
            #expect(export["links"]?[0]?["value"] == .string(transaction))
            #expect(export["consent"]?[0]?["source"] == "ios-app 5.2")
            #expect(export["usage"]?[0]?["consumptionPercentage"] == 25000)
            #expect(export["cases"]?[0]?["owner"] == .string(user) && export["cases"]?[0]?["state"] == "answered")
            #expect(export["deliveries"]?[0]?["report"]?["refundPreference"] == "DECLINE")
            #expect(export["deliveries"]?[0]?["state"] == "accepted")
            let answered = export["appleAnswers"]?[0]
            #expect(answered?["transaction"]?["transactionId"] == .string(transaction) && answered?["status"] == .null)
            let told = export["notifications"]?.array ?? []
            #expect(told.contains { $0["notificationType"] == "CONSUMPTION_REQUEST" })
            #expect(told.allSatisfy { $0["signedPayload"]?.string?.split(separator: ".").count == 3 })
            for part in Self.parts + ["appAccountTokens", "receiptPurchases"] {
                #expect(export[part]?.serializedString().contains(other) == false, "\(part)")
            }
            #expect(try await fixture.send("DELETE", path).status == 200)
            let left = try await fixture.send("GET", "\(path):export").json
            for part in Self.parts { #expect(left[part]?.array?.isEmpty == true, "\(part)") }
            #expect(left["auditPseudonyms"] == [] && left["complete"] == true)
        }
    }
}
