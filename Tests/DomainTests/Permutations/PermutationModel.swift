import Domain
import Foundation

/// Knows how a story must end: a small machine that takes the facts in the order in which they happened.
///
/// It shares nothing with the rules but their words. What a caller was refused when it asked did not happen, since the caller
/// was told so; everything that was accepted is judged here by what is known in the end.
struct PermutationModel {
    private struct Answer {
        let percentage: Int32
        let at: Date
        let acceptedFor: String?
        var caseIndex: Int?
        var isLive = true
    }

    private struct Request {
        var requests: [Int]
        var decidedAt: Date?
        var outcome: RefundCase.Outcome?
        let at: Date
    }

    private var cases: [Request] = []
    private var answers: [Answer] = []
    private var decisions: [(outcome: RefundCase.Outcome, at: Date)] = []
    private var link: String?
    private var wasAlices = false
    private var hasToken = false
    private var consents: [Bool] = []
    private var guardianAt: [Date] = []
    private var isErasedPurchase = false
    /// Whether alice had withdrawn when she was erased, which outlives her record.
    private var isErasedWithdrawal = false
    private var rescindedAt: Date?
    /// Whether something that Apple told names the purchase's account.
    private var isAccountKnown = false
    /// Whether only what is known at each moment counts, as for refusals; else all is known from the start.
    private let isBlind: Bool

    private init(isBlind: Bool) { self.isBlind = isBlind }

    /// How a story ends in which these answers were accepted.
    ///
    /// `refused`: what callers were told to have come to nothing.
    static func ending(of story: Story, refused: Set<Fact>) -> Ending {
        var model = PermutationModel(isBlind: false)
        for (place, fact) in story.facts.enumerated() where !refused.contains(fact) {
            model.take(fact, place, Story.time(place))
        }
        var ending = model.ending
        (ending.usage, ending.productUsage) = usage(in: story)
        return ending
    }

    /// What is known of usage in the end: the newest report, of those that came since the last erasure of their owner.
    ///
    /// Nobody remembers whom an erasure removed, so that what comes later counts, whenever it was so.
    private static func usage(in story: Story) -> (ofPurchase: Int32?, ofProduct: Int32?) {
        var model = PermutationModel(isBlind: false)
        var (newest, newestOfProduct): (Int?, Int?)
        for place in story.arrival {
            let fact = story.facts[place]
            switch fact {
            case .link, .transfer, .tokenByPUT: model.take(fact, place, Story.time(place))
            case .erase:
                if model.owner == "alice" { newest = nil }
                newestOfProduct = nil
                model.take(fact, place, Story.time(place))
            case .usage, .laterUsage:
                newest = max(newest ?? place, place)
                newestOfProduct = max(newestOfProduct ?? place, place)
            default: break
            }
        }
        return (newest.flatMap { story.facts[$0].usage }, newestOfProduct.flatMap { story.facts[$0].usage })
    }

    /// Which answers are refused when all is told as it happens.
    static func refusals(in facts: [Fact]) -> Set<Fact> {
        var model = PermutationModel(isBlind: true)
        var refused: Set<Fact> = []
        for (place, fact) in facts.enumerated() where !model.take(fact, place, Story.time(place)) {
            refused.insert(fact)
        }
        return refused
    }

    private var owner: String? { hasToken ? "carol" : link }

    private var isWithdrawn: Bool { consents.last.map { !$0 } ?? isErasedWithdrawal }

    private var ending: Ending {
        var ending = Ending()
        var answered: Set<Int> = []
        for answer in answers where answer.isLive && !isObjected(answer) {
            // Nobody asks about what was refunded, unless a request came that it may have been made for.
            if answer.caseIndex == nil, isRefunded(before: answer.at) { continue }
            ending.sent.append(answer.percentage)
            if let index = answer.caseIndex { answered.insert(index) }
        }
        ending.cases = cases.enumerated().map { index, one in
            let state: RefundCase.State =
                one.decidedAt != nil ? .decided : answered.contains(index) ? .answered : .open
            return Ending.Case(requests: one.requests, state: state, outcome: one.outcome, owner: owner)
        }
        ending.sent.sort()
        return ending
    }

    private func isRefunded(before end: Date) -> Bool {
        decisions.filter { $0.at < end }.max { $0.at < $1.at }?.outcome == .refunded
    }

    /// Whether the gate lets nothing of it through.
    private func isObjected(_ answer: Answer) -> Bool {
        if let rescindedAt, isAccountKnown || !isBlind {
            let isLifted = guardianAt.contains { $0 > rescindedAt && $0 <= answer.at } && owner == "alice"
            if !isLifted { return true }
        }
        if isWithdrawn, owner == "alice" || answer.acceptedFor == "alice" { return true }
        if owner == nil, isErasedPurchase { return true }
        let isByPolicy = answer.percentage == Fact.consumptionByPolicy.percentage
        return isByPolicy && !(owner == "alice" && consents.last == true)
    }

    /// - Returns: whether it was accepted, for what can be refused.
    @discardableResult
    private mutating func take(_ fact: Fact, _ place: Int, _ now: Date) -> Bool {
        if [.request, .reminder, .secondRequest, .refund, .refundDeclined].contains(fact) { isAccountKnown = true }
        switch fact {
        case .request, .reminder, .secondRequest: request(place, now)
        case .refund: decide(.refunded, now)
        case .refundDeclined: decide(.refundDeclined, now)
        case .rescission:
            rescindedAt = now
            for index in answers.indices where answers[index].isLive && isObjected(answers[index]) {
                answers[index].isLive = false
            }
        case .link:
            if link == nil { setLink("alice") }
        case .transfer: setLink("bob")
        case .tokenByPUT: hasToken = true
        case .consent:
            consents.append(true)
            guardianAt.append(now)
            isErasedPurchase = false
            isErasedWithdrawal = false
        case .withdrawal:
            consents.append(false)
            endAlices()
        case .erase: erase()
        case .consumptionByRoute, .consumptionByDoor, .consumptionByPolicy: return answer(fact, now)
        case .usage, .laterUsage, .restart, .historyInsteadOfWebhook: break
        }
        return true
    }

    private mutating func setLink(_ user: String) {
        link = user
        if user == "alice" { wasAlices = true }
    }

    private mutating func request(_ place: Int, _ now: Date) {
        if let last = cases.indices.last, cases[last].decidedAt == nil {
            cases[last].requests.append(place)
            return
        }
        cases.append(Request(requests: [place], at: now))
        let before = decisions.map(\.at).max() ?? .distantPast
        for index in answers.indices
        where answers[index].caseIndex == nil && answers[index].isLive && answers[index].at > before
            && answers[index].at >= now.addingTimeInterval(-FactRules.clockTolerance)
        {
            answers[index].caseIndex = cases.count - 1
        }
    }

    private mutating func decide(_ outcome: RefundCase.Outcome, _ now: Date) {
        decisions.append((outcome, now))
        for index in answers.indices { answers[index].isLive = false }
        guard let last = cases.indices.last, cases[last].decidedAt == nil else { return }
        cases[last].decidedAt = now
        cases[last].outcome = outcome
    }

    private mutating func endAlices() {
        for index in answers.indices where owner == "alice" || answers[index].acceptedFor == "alice" {
            answers[index].isLive = false
        }
    }

    private mutating func erase() {
        endAlices()
        if isWithdrawn, wasAlices { isErasedPurchase = true }
        isErasedWithdrawal = isWithdrawn
        consents = []
        guardianAt = []
        wasAlices = false
        if link == "alice" { link = nil }
    }

    private mutating func answer(_ fact: Fact, _ now: Date) -> Bool {
        let open = cases.indices.last.flatMap { cases[$0].decidedAt == nil ? $0 : nil }
        let isByPolicy = fact == .consumptionByPolicy
        if isByPolicy, open == nil { return false }
        if open == nil, isBlind, isRefunded(before: now) { return false }
        let new = Answer(percentage: fact.percentage ?? 0, at: now, acceptedFor: owner, caseIndex: open)
        // What was accepted is judged by its end: its owner, and with that whose guardian consented, may be known later.
        guard !isBlind || !isObjected(new) else { return false }
        // Two that were accepted before anybody knew that they answer the same are both sent: Apple takes the latest.
        guard !isBlind || !answers.contains(where: { $0.isLive && $0.caseIndex == open }) else { return false }
        answers.append(new)
        return true
    }
}
