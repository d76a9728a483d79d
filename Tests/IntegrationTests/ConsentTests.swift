import AppStoreAPI
import AppStoreSimulator
import Domain
import Foundation
import JSON
import TestSupport
import Testing

/// Nothing is sent about a user who has withdrawn consent, whichever way it would have gone out.
struct ConsentTests {
    private static let down = Fault(
        .status(500, errorCode: 5_000_000), operation: .sendConsumptionInformation)

    @Test
    func `a withdrawal ends what is under way, and nothing goes out until there is consent again`()
        async throws
    {
        try await DaemonFixture.with { fixture in
            let (user, account, gems) = try await fixture.customer()
            let state = fixture.simulator.state
            state.inject(Self.down)
            let target = "\(DaemonFixture.app)/users/\(user)/consumption"
            let body = DaemonFixture.consumption(("transactionId", .string(gems)))
            let queued = try await fixture.send("POST", target, ["Prefer": "respond-async"], body: body)
            #expect(queued.status == 202)
            try await fixture.isReceived(gems)
            let withdrawn = try await fixture.consent(user, false)
            await fixture.simulator.readSockets()
            let (count, ended) = (fixture.received(gems).count, try queued.json["id"])
            #expect(
                [withdrawn["cancelled"], withdrawn["mayHaveBeenSent"]].contains { $0 == ended.map { [$0] } }
            )
            state.removeAllFaults()
            #expect(try await fixture.delivery(ended)["state"] == "cancelled")
            let again = try await fixture.send("POST", target, body: body)
            #expect(try again.status == 409 && again.json["reason"] == "CONSENT_WITHDRAWN")
            // Nor by the transaction alone, whose owner is known by its signed token.
            let other = try #require(try fixture.buy(account, token: user).transactionId)
            let direct = try await fixture.send(
                "POST", "\(DaemonFixture.app)/transactions/\(other)/consumption",
                body: DaemonFixture.consumption())
            #expect(try direct.status == 409 && direct.json["reason"] == "CONSENT_WITHDRAWN")
            #expect(fixture.received(gems).count == count && fixture.received(other).isEmpty)
            _ = try await fixture.consent(user, true)
            #expect(try await fixture.send("POST", target, body: body).status == 200)
        }
    }

    @Test func `Apple's RESCIND_CONSENT stands for its account until a guardian consents again`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let state = fixture.simulator.state
            let account = try state.createAccount(in: .production).id
            let purchase = try fixture.buy(account)
            let gems = try #require(purchase.transactionId)
            let appTransactionID = try #require(purchase.appTransactionId)
            _ = try await fixture.send(
                "PUT", "\(DaemonFixture.app)/users/alice/links/appTransactionId/\(appTransactionID)")
            var appTransaction = AppTransactionPayload()
            appTransaction.bundleId = DaemonFixture.bundleID
            appTransaction.appTransactionId = appTransactionID
            appTransaction.appAppleId = 42
            appTransaction.receiptType = .production
            try state.notify(
                NotificationDraft(
                    .rescindConsent, of: DaemonFixture.bundleID, in: .production,
                    about: .appData(appTransaction)))
            var cursor = "0"
            let event = try await Wait.value("the rescission to be told") { () async throws -> JSONValue? in
                let page = try await fixture.send("GET", "\(DaemonFixture.app)/events?after=\(cursor)&wait=1").json
                cursor = try #require(page["cursor"]?.string)
                return page["events"]?.array?.first { $0["type"] == "purser.guardianConsentRescinded" }
            }
            #expect(event["data"]?["user"] == "alice")
            let consent = try await fixture.send("GET", "\(DaemonFixture.app)/users/alice/consent").json
            #expect(consent["history"]?.array?.isEmpty == true, "nobody's own consent")
            let refused = try await fixture.send(
                "POST", "\(DaemonFixture.app)/transactions/\(gems)/consumption",
                body: DaemonFixture.consumption())
            #expect(try refused.status == 409 && refused.json["reason"] == "CONSENT_WITHDRAWN")
            #expect(fixture.received(gems).isEmpty)
            _ = try await fixture.send(
                "PUT", "\(DaemonFixture.app)/users/alice/consent",
                body: #"{"consented":true,"source":"guardian","guardian":true}"#)
            let sent = try await fixture.send(
                "POST", "\(DaemonFixture.app)/transactions/\(gems)/consumption",
                body: DaemonFixture.consumption())
            #expect(sent.status == 200)
        }
    }

    @Test func `an erasure removes a user and leaves the withdrawal in force`() async throws {
        try await DaemonFixture.with { fixture in
            let (user, _, gems) = try await fixture.customer()
            _ = try await fixture.send(
                "PUT", "\(DaemonFixture.app)/users/\(user)/links/transactionId/\(gems)")
            _ = try await fixture.consent(user, false)
            let erased = try await fixture.send("DELETE", "\(DaemonFixture.app)/users/\(user)")
            #expect(erased.status == 200)
            #expect(
                try erased.json["erased"]?["links"] == 1 && erased.json["erased"]?["consentRecords"] == 1)
            #expect(try erased.json["kept"]?.array?.contains { $0["what"] == "withdrawal" } == true)
            let links = try await fixture.send("GET", "\(DaemonFixture.app)/users/\(user)/links").json
            #expect(links["links"] == [])
            let refused = try await fixture.send(
                "POST", "\(DaemonFixture.app)/transactions/\(gems)/consumption",
                body: DaemonFixture.consumption())
            #expect(try refused.status == 409 && refused.json["reason"] == "CONSENT_WITHDRAWN")
            #expect(fixture.received(gems).isEmpty)
        }
    }
}
