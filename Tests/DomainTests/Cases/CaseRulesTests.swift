import Domain
import Foundation
import TestSupport
import Testing

struct CaseRulesTests {
    @Test func `the first request opens a case with twelve hours to answer`() throws {
        var desk = CaseModel()
        let notice = CaseModel.request("r1", at: 1, reason: "UNINTENDED_PURCHASE")
        guard case .open(let opened) = desk.take(notice) else {
            Issue.record("not opened")
            return
        }
        #expect(opened.state == .open)
        #expect(opened.transactionID == "1000")
        #expect(opened.purchase == notice.purchase)
        #expect(opened.reason == "UNINTENDED_PURCHASE")
        #expect(opened.requestedAt == CaseModel.time(1))
        #expect(opened.deadline == CaseModel.time(13))
        #expect(opened.requests.map(\.notificationUUID) == ["r1"])
    }

    @Test func `a request that is known already changes nothing`() {
        var desk = CaseModel()
        desk.take(CaseModel.request("r1", at: 1))
        #expect(desk.take(CaseModel.request("r1", at: 1)) == .none)
    }

    @Test func `a request signed ahead of our clock gives no more time than there is`() {
        var desk = CaseModel()
        desk.take(CaseModel.request("r1", at: 5, received: 1))
        #expect(desk.cases.map(\.deadline) == [CaseModel.time(13)])
    }

    @Test(arguments: [("REFUND", RefundCase.Outcome.refunded), ("REFUND_DECLINED", .refundDeclined)])
    func `a decision ends the case, whether it was answered, declined or missed`(
        type: String, outcome: RefundCase.Outcome
    ) throws {
        for state in RefundCase.State.allCases where state != .decided {
            var desk = CaseModel()
            desk.take(CaseModel.request("r1", at: 0))
            desk.cases[0].state = state
            let message = try #require(CaseRules.Message(type: type, consumptionRequestReason: nil))
            guard case .decide(let decided) = desk.take(CaseModel.notice("d", message, at: 1)) else {
                Issue.record("not decided")
                continue
            }
            #expect(decided.state == .decided && decided.outcome == outcome && decided.decidedAt == CaseModel.time(1))
        }
    }

    @Test func `types that do not concern refunds say nothing`() {
        for type in ["TEST", "DID_RENEW", "REVOKE", "consumption_request", ""] {
            #expect(CaseRules.Message(type: type, consumptionRequestReason: "OTHER") == nil)
        }
    }

    @Test func `outcomes without a case change nothing`() {
        var desk = CaseModel()
        for (number, outcome) in RefundCase.Outcome.allCases.enumerated() {
            #expect(desk.take(CaseModel.outcome("d\(number)", outcome, at: 1)) == .none)
        }
        #expect(desk.cases.isEmpty)
    }

    @Test func `a reminder neither reopens a declined case nor moves its deadline`() {
        var desk = CaseModel()
        desk.take(CaseModel.request("r1", at: 0))
        desk.decline(at: 1)
        desk.take(CaseModel.request("r2", at: 5))
        #expect(desk.cases.map(\.state) == [.declined])
        #expect(desk.cases.map(\.deadline) == [CaseModel.time(12)])
        #expect(desk.cases.map(\.requests.count) == [2])
        desk.take(CaseModel.outcome("d", .refunded, at: 6))
        #expect(desk.cases.map(\.state) == [.decided])
        #expect(desk.cases.map(\.decline) == [CaseModel.declined(at: 1)])
    }

    @Test func `a request that comes when its time is over makes an expired case`() {
        var desk = CaseModel()
        desk.take(CaseModel.request("r1", at: 0, received: 13))
        #expect(desk.cases.map(\.state) == [.expired])
    }

    @Test func `an earlier request that comes late shortens the time to answer`() {
        var desk = CaseModel()
        desk.take(CaseModel.request("r2", at: 6, reason: "LEGAL"))
        desk.take(CaseModel.request("r1", at: 2, received: 7, reason: "OTHER"))
        #expect(desk.cases.map(\.deadline) == [CaseModel.time(14)])
        #expect(desk.cases.map(\.reason) == ["OTHER"])
        #expect(desk.cases.map { $0.requests.map(\.notificationUUID) } == [["r1", "r2"]])
    }

    @Test func `a decision that comes late separates the requests before it from those after`() throws {
        var desk = CaseModel()
        desk.take(CaseModel.request("r3", at: 6))
        desk.take(CaseModel.request("r1", at: 0, received: 6))
        #expect(desk.cases.map(\.requestedAt) == [CaseModel.time(0)])
        let change = desk.take(CaseModel.outcome("d", .refundDeclined, at: 3))
        guard case .separate(let decided, let new) = change else {
            Issue.record("\(change)")
            return
        }
        #expect(decided.state == .decided && decided.requests.map(\.notificationUUID) == ["r1"])
        #expect(new.state == .open && new.requests.map(\.notificationUUID) == ["r3"])
        #expect(new.deadline == CaseModel.time(18))
        #expect(new.id != decided.id)
    }

    @Test(arguments: [(5.0, RefundCase.State.open), (7, .declined)])
    func `a decline counts for a later request if that had come by then`(
        hour: Double, state: RefundCase.State
    ) {
        var desk = CaseModel()
        desk.take(CaseModel.request("r1", at: 0))
        if hour < 6 { desk.decline(at: hour) }
        desk.take(CaseModel.request("r3", at: 6))
        if hour > 6 { desk.decline(at: hour) }
        desk.take(CaseModel.outcome("d", .refundDeclined, at: 3))
        #expect(desk.cases.map(\.state) == [.decided, state])
        #expect(desk.cases[0].decline == CaseModel.declined(at: hour))
        #expect(desk.cases[1].decline == (hour > 6 ? CaseModel.declined(at: hour) : nil))
    }
}
