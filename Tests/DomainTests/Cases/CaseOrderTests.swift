import Domain
import Foundation
import TestSupport
import Testing

/// Whatever the order in which Apple's notices come, the same cases are left.
struct CaseOrderTests {
    /// What a case is to come out as.
    private struct Ending: Equatable {
        let requests: [String]
        let deadline: Date
        let state: RefundCase.State
        let outcome: RefundCase.Outcome?
        let decidedAt: Date?
        let reason: String?

        init(_ refundCase: RefundCase) {
            requests = refundCase.requests.map(\.notificationUUID)
            deadline = refundCase.deadline
            state = refundCase.state
            outcome = refundCase.outcome
            decidedAt = refundCase.decidedAt
            reason = refundCase.reason
        }
    }

    private static func endings(_ notices: some Sequence<CaseRules.Notice>) -> [Ending] {
        var desk = CaseModel()
        for notice in notices { desk.take(notice) }
        return desk.cases.sorted { $0.requestedAt < $1.requestedAt }.map(Ending.init)
    }

    /// A request, a reminder, a decision, a later request, and its decision and reversal.
    private static let story: [CaseRules.Notice] = [
        CaseModel.request("r1", at: 0), CaseModel.request("r2", at: 1, reason: "LEGAL"),
        CaseModel.outcome("d1", .refundDeclined, at: 2), CaseModel.request("r3", at: 3, reason: "OTHER"),
        CaseModel.outcome("d2", .refunded, at: 4), CaseModel.outcome("v", .refundReversed, at: 5),
    ]

    @Test func `the story in its own order makes two cases`() {
        let endings = Self.endings(Self.story)
        #expect(endings.map(\.requests) == [["r1", "r2"], ["r3"]])
        #expect(endings.map(\.deadline) == [CaseModel.time(12), CaseModel.time(15)])
        #expect(endings.map(\.outcome) == [.refundDeclined, .refundReversed])
        #expect(endings.map(\.reason) == ["LEGAL", "OTHER"])
    }

    @Test func `every order of the story, and of each part of it, ends the same`() {
        for mask in 0..<(1 << Self.story.count) {
            let part = Self.story.enumerated().filter { mask & (1 << $0.offset) != 0 }.map(\.element)
            let expected = Self.endings(part)
            for order in part.permutations { #expect(Self.endings(order) == expected) }
        }
    }

    @Test func `no notice ever gives a case more time, or takes a request out of sight`() {
        for order in Self.story.permutations {
            var desk = CaseModel()
            var taken: Set<String> = []
            for notice in order {
                let deadlines = Dictionary(uniqueKeysWithValues: desk.cases.map { ($0.id, $0.deadline) })
                desk.take(notice)
                if case .request = notice.message { taken.insert(notice.notificationUUID) }
                for refundCase in desk.cases {
                    #expect(refundCase.deadline <= deadlines[refundCase.id] ?? .distantFuture)
                }
                #expect(desk.cases.flatMap(\.requests).map(\.notificationUUID).sorted() == taken.sorted())
            }
        }
    }

    @Test(arguments: 0..<200)
    func `stories made at random end the same in every order`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var mayRefund = true
        let notices = (0..<Int.random(in: 2...8, using: &random)).map { number -> CaseRules.Notice in
            // Few different hours, so that some coincide.
            let hour = Double(Int.random(in: 0...6, using: &random)) * 3
            let received = hour + Double(Int.random(in: 0...20, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5:
                let reason = [nil, "LEGAL", "OTHER"].randomElement(using: &random) ?? nil
                return CaseModel.request("\(number)", at: hour, received: received, reason: reason)
            case 6 where mayRefund:
                // Apple refunds a transaction once.
                mayRefund = false
                return CaseModel.outcome("\(number)", .refunded, at: hour)
            case 7: return CaseModel.outcome("\(number)", .refundReversed, at: hour)
            default: return CaseModel.outcome("\(number)", .refundDeclined, at: hour)
            }
        }
        let expected = Self.endings(notices.sorted { $0.signedAt < $1.signedAt })
        for _ in 0..<50 { #expect(Self.endings(notices.shuffled(using: &random)) == expected) }
    }

    @Test func `a decline stays through every order of reminders, before and after`() {
        let reminders = (2...5).map { CaseModel.request("r\($0)", at: Double($0)) }
        for order in reminders.permutations {
            for moment in 0...order.count {
                var desk = CaseModel()
                desk.take(CaseModel.request("r1", at: 1))
                for notice in order.prefix(moment) { desk.take(notice) }
                desk.decline(at: 6)
                for notice in order.dropFirst(moment) { desk.take(notice) }
                #expect(desk.cases.map(\.state) == [.declined])
                #expect(desk.cases.map(\.deadline) == [CaseModel.time(13)])
            }
        }
    }
}
