import AppStoreAPI
import AppStoreSimulator
import Domain
import Foundation
import JSON
import Testing

/// A refund request from Apple's first question to its decision.
struct RefundCaseTests {
    @Test func `a request opens a case that its owner's answer closes, and Apple decides`()
        async throws
    {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let (user, _, gems) = try await fixture.customer()
            try await fixture.event("notification.received", about: gems)
            let start = try await fixture.eventTypes().count
            let opened = try await fixture.requestRefund(of: gems, reason: .fulfillmentIssue)
            #expect(opened["state"] == "open" && opened["owner"] == .string(user))
            #expect(opened["reason"] == "FULFILLMENT_ISSUE" && opened["environment"] == "Production")
            let left = try #require(opened["secondsLeft"]?.int64)
            #expect((1...43_200).contains(left))
            let reply = try await fixture.send(
                "POST", "\(DaemonFixture.app)/users/\(user)/consumption",
                body: DaemonFixture.consumption(("refundPreference", "DECLINE")))
            #expect(reply.status == 200)
            #expect(try reply.json["state"] == "accepted" && reply.json["caseId"] == opened["id"])
            #expect(fixture.received(gems).count == 1)
            let answered = try await fixture.refundCase(of: gems)
            #expect(answered["state"] == "answered")
            #expect(answered["deliveries"]?[0]?["id"] == (try reply.json["id"]))
            try fixture.simulator.state.decideRefund(of: gems, .decline)
            try await fixture.event("case.decided", about: gems)
            let decided = try await fixture.refundCase(of: gems)
            #expect(decided["state"] == "decided" && decided["outcome"] == "refundDeclined")
            #expect(
                try await Array(fixture.eventTypes().dropFirst(start)) == [
                    "notification.received", "case.opened", "delivery.queued", "delivery.accepted",
                    "case.answered",
                    "notification.received", "case.decided",
                ])
        }
    }

    @Test func `the report shows what was preferred beside what Apple decided`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let (answered, declined) = (try await fixture.customer(), try await fixture.customer())
            _ = try await fixture.requestRefund(of: answered.transaction)
            let other = try await fixture.requestRefund(of: declined.transaction, reason: .fulfillmentIssue)
            let reply = try await fixture.send(
                "POST", "\(DaemonFixture.app)/users/\(answered.user)/consumption",
                body: DaemonFixture.consumption(("refundPreference", "DECLINE")))
            #expect(reply.status == 200)
            let id = try #require(other["id"]?.string)
            #expect(try await fixture.send("POST", "\(DaemonFixture.app)/cases/\(id):decline").status == 200)
            for (transaction, decision) in [
                (answered.transaction, RefundRequest.Decision.decline),
                (declined.transaction, .refund(percentage: 40_000)),
            ] {
                try fixture.simulator.state.decideRefund(of: transaction, decision)
                try await fixture.event("case.decided", about: transaction)
            }
            let path = "\(DaemonFixture.app)/refundReport?groupBy=refundPreference&groupBy=reason"
            let report = try await fixture.send("GET", path).json
            let groups = try #require(report["groups"]?.array)
            #expect(groups.map { $0["refundPreference"] } == [.null, "DECLINE"])
            #expect(groups.map { $0["reason"] } == ["FULFILLMENT_ISSUE", "UNINTENDED_PURCHASE"])
            #expect(
                groups.map { $0["silent"]?["declined"] } == [1, 0] && groups.map { $0["answeredInTime"] } == [0, 1])
            #expect(groups[0]["outcomes"]?["refunded"] == 1 && groups[1]["outcomes"]?["refundDeclined"] == 1)
            let total = try #require(report["total"])
            #expect(total["requests"] == 2 && total["outcomes"]?["undecided"] == 0)
            let table = try await fixture.send("GET", path, ["Accept": "text/csv"])
            let lines = String(decoding: table.body, as: UTF8.self).components(separatedBy: "\r\n")
            #expect(lines.count == 4 && lines[0].hasPrefix("reason,refundPreference,currency,requests,"))
            #expect(lines[2].hasPrefix("UNINTENDED_PURCHASE,DECLINE,"))
        }
    }

    @Test func `Apple's repetitions are reminders, and move no deadline`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let gems = try await fixture.customer().transaction
            let opened = try await fixture.requestRefund(of: gems)
            try fixture.simulator.state.clock.advance(by: 4 * 3600)
            try await fixture.event("case.reminded", about: gems)
            let reminded = try await fixture.refundCase(of: gems)
            #expect(reminded["id"] == opened["id"] && reminded["deadline"] == opened["deadline"])
            #expect(reminded["reminders"]?.array?.count == 1 && opened["reminders"] == [])
        }
    }

    @Test func `a refund that is reversed is recorded, and a later request is another case`()
        async throws
    {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let gems = try await fixture.customer().transaction
            let opened = try await fixture.requestRefund(of: gems)
            try fixture.simulator.state.decideRefund(of: gems, .refund(percentage: 100_000))
            let decided = try await fixture.event("case.decided", about: gems)
            #expect(decided["data"]?["outcome"] == "refunded")
            try fixture.simulator.state.reverseRefund(gems)
            let reversed = try await fixture.event(
                "case.decided", about: gems, after: try #require(decided["id"]?.string))
            #expect(reversed["data"]?["outcome"] == "refundReversed")
            try fixture.simulator.state.requestRefund(of: gems, reason: .other)
            try await fixture.event(
                "case.opened", about: gems, after: try #require(reversed["id"]?.string))
            let list = try await fixture.send("GET", "\(DaemonFixture.app)/cases?transactionId=\(gems)")
                .json
            #expect(list["cases"]?.array?.count == 2)
            let first = list["cases"]?.array?.first { $0["id"] == opened["id"] }
            #expect(first?["outcome"] == "refundReversed")
        }
    }

    @Test func `a decision that comes before its question decides it all the same`() async throws {
        try await DaemonFixture.with(.init(notifications: .deadEnd)) { fixture in
            let gems = try await fixture.customer().transaction
            let state = fixture.simulator.state
            try state.requestRefund(of: gems, reason: .other)
            try state.decideRefund(of: gems, .decline)
            // Of the purchase, the request and the decision.
            try await fixture.isAttempted(3)
            for notification in state.notifications.reversed() {
                let signed = try #require(notification.signedPayload)
                let reply = try await fixture.send(
                    "POST", "\(DaemonFixture.app)/notifications", body: #"{"signedPayload":"\#(signed)"}"#)
                #expect(reply.status == 201)
            }
            try await fixture.event("case.decided", about: gems)
            let decided = try await fixture.refundCase(of: gems)
            #expect(decided["state"] == "decided" && decided["outcome"] == "refundDeclined")
            let late = try await fixture.send(
                "POST", "\(DaemonFixture.app)/cases/\(decided["id"]?.string ?? "")/consumption",
                body: DaemonFixture.consumption())
            #expect(try late.status == 409 && late.json["reason"] == "CASE_CLOSED")
            #expect(fixture.received(gems).isEmpty)
        }
    }

    @Test func `a case that is declined is not answered, however often Apple asks`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let (user, _, gems) = try await fixture.customer()
            let id = try #require(try await fixture.requestRefund(of: gems)["id"]?.string)
            let reply = try await fixture.send(
                "POST", "\(DaemonFixture.app)/cases/\(id):decline", body: #"{"note":"no consent"}"#)
            #expect(reply.status == 200)
            #expect(
                try reply.json["state"] == "declined" && reply.json["decline"]?["note"] == "no consent")
            try fixture.simulator.state.clock.advance(by: 4 * 3600)
            try await fixture.event("case.reminded", about: gems)
            #expect(try await fixture.refundCase(of: gems)["state"] == "declined")
            for path in ["users/\(user)", "cases/\(id)"] {
                let refused = try await fixture.send(
                    "POST", "\(DaemonFixture.app)/\(path)/consumption", body: DaemonFixture.consumption())
                #expect(refused.status == 409)
            }
            #expect(fixture.received(gems).isEmpty)
        }
    }

    @Test func `with several cases open the caller is told which, and answers one`() async throws {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            let (user, account, gems) = try await fixture.customer()
            let more = try #require(try fixture.buy(account, "gems.500", token: user).transactionId)
            let target = "\(DaemonFixture.app)/users/\(user)/consumption"
            let none = try await fixture.send("POST", target, body: DaemonFixture.consumption())
            #expect(try none.status == 409 && none.json["reason"] == "NO_OPEN_CASE")
            _ = try await fixture.requestRefund(of: gems)
            _ = try await fixture.requestRefund(of: more)
            let several = try await fixture.send("POST", target, body: DaemonFixture.consumption())
            #expect(try several.status == 409 && several.json["reason"] == "SEVERAL_OPEN_CASES")
            let cases = try #require(try several.json["cases"]?.array)
            #expect(Set(cases.compactMap { $0["transactionId"]?.string }) == [gems, more])
            let id = try #require(cases.first { $0["transactionId"] == .string(more) }?["id"]?.string)
            let answered = try await fixture.send(
                "POST", "\(DaemonFixture.app)/cases/\(id)/consumption", body: DaemonFixture.consumption())
            #expect(try answered.status == 200 && answered.json["transactionId"] == .string(more))
            let rest = try await fixture.send("POST", target, body: DaemonFixture.consumption())
            #expect(try rest.status == 200 && rest.json["transactionId"] == .string(gems))
        }
    }

    @Test func `a policy answers in the sandbox at once, where consent is on record`() async throws {
        let statement = RefundRule.Statement(
            deliveryStatus: .delivered, sampleContentProvided: false, consumptionPercentage: 50_000)
        let policy = RefundPolicy(rules: [RefundRule(name: "all", outcome: .answer(.decline, statement))])
        try await DaemonFixture.with(.init(policy: policy, notifications: .webhook)) { fixture in
            let (user, _, gems) = try await fixture.customer(in: .sandbox)
            let silent = try await fixture.customer(in: .sandbox).transaction
            _ = try await fixture.consent(user, true)
            _ = try await fixture.requestRefund(of: silent)
            _ = try await fixture.requestRefund(of: gems)
            try await fixture.event("case.answered", about: gems)
            #expect(fixture.received(gems).first?.body?["consumptionPercentage"] == 50_000)
            #expect(fixture.received(silent).isEmpty)
            #expect(try await fixture.refundCase(of: silent)["state"] == "open")
        }
    }

    @Test func `a policy answers from what was reported, and tells by which rule`() async throws {
        var used = RefundMatch()
        used.consumptionPercentage = .init(atLeast: 50_000)
        let policy = RefundPolicy(rules: [
            RefundRule(name: "mostly-used", match: used, outcome: .answer(.decline, .init())),
            RefundRule(name: "what-is-known", outcome: .answer(nil, .init())),
        ])
        try await DaemonFixture.with(.init(policy: policy, notifications: .webhook)) { fixture in
            let (user, _, gems) = try await fixture.customer(in: .sandbox)
            _ = try await fixture.consent(user, true)
            let usage = """
                {"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":80000}
                """
            let reported = try await fixture.send(
                "PUT", "\(DaemonFixture.app)/transactions/\(gems)/usage?environment=Sandbox", body: usage)
            #expect(reported.status == 201)
            _ = try await fixture.requestRefund(of: gems)
            try await fixture.event("case.answered", about: gems)
            let body = try #require(fixture.received(gems).first?.body)
            #expect(body["consumptionPercentage"] == 80_000 && body["refundPreference"] == "DECLINE")
            let id = try #require(try await fixture.refundCase(of: gems)["id"]?.string)
            let found = try await fixture.send("GET", "\(DaemonFixture.app)/cases/\(id)").json
            #expect(found["refundPreference"] == "DECLINE")
            #expect(found["deliveries"]?.array?.first?["policy"]?["rule"] == "mostly-used")
            let trial = try await fixture.send(
                "POST", "\(DaemonFixture.app)/policies:try", body: "{}")
            #expect(try trial.json["results"]?.array?.first?["rule"] == "mostly-used")
        }
    }
}
