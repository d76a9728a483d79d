import Domain
import Foundation

/// Something that becomes known about one purchase.
enum Fact: String, CaseIterable, Sendable {
    case request, reminder, secondRequest
    case refund, refundDeclined
    case rescission
    case link, transfer, tokenByPUT
    case consent, withdrawal, erase
    case consumptionByRoute, consumptionByDoor, consumptionByPolicy
    /// What a service reports of the purchase by its transaction id, and of alice's product; it may come late as well.
    case usage, laterUsage
    case restart
    /// From here on Apple's reports come by its history, after everything else.
    case historyInsteadOfWebhook

    /// What Apple tells, at the time that it signed; nil for what is done here.
    var notificationType: String? {
        switch self {
        case .request, .reminder, .secondRequest: "CONSUMPTION_REQUEST"
        case .refund: "REFUND"
        case .refundDeclined: "REFUND_DECLINED"
        case .rescission: "RESCIND_CONSENT"
        default: nil
        }
    }

    /// Whether it tells of a time of its own, and may come later than what happened after it.
    var isReport: Bool { notificationType != nil || usage != nil }

    /// What a report of usage says.
    var usage: Int32? {
        switch self {
        case .usage: 10
        case .laterUsage: 20
        default: nil
        }
    }

    /// What an answer says, so that different ones can be told apart.
    var percentage: Int32? {
        switch self {
        case .consumptionByRoute: 1000
        case .consumptionByDoor: 2000
        case .consumptionByPolicy: 3000
        default: nil
        }
    }

    /// Every sequence of so many different facts.
    static func sequences(of length: Int) -> [[Fact]] {
        guard length > 0 else { return [[]] }
        return sequences(of: length - 1).flatMap { start in
            allCases.filter { !start.contains($0) }.map { start + [$0] }
        }
    }
}

/// Facts in the order in which they happened, and the order in which they become known.
struct Story: Sendable, CustomStringConvertible {
    /// From one fact to the next, in seconds.
    static let step: TimeInterval = 120
    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    let facts: [Fact]
    /// Places in `facts`, in the order of arrival.
    let arrival: [Int]
    /// Whether a report that has arrived is left to whoever decides next.
    let isProcessedLate: Bool

    /// Everything becomes known as it happens, but what comes by history comes last.
    init(_ facts: [Fact], isProcessedLate: Bool = false) {
        let history = facts.firstIndex(of: .historyInsteadOfWebhook) ?? facts.count
        let late = facts.indices.filter { $0 > history && facts[$0].notificationType != nil }
        self.init(
            facts, arrival: facts.indices.filter { !late.contains($0) } + late, isProcessedLate: isProcessedLate)
    }

    /// Reports come later than they should, some after others that were signed later.
    init(_ facts: [Fact], delaying random: inout some RandomNumberGenerator) {
        var arrival = facts.indices.map(\.self)
        for place in facts.indices.reversed() where facts[place].isReport {
            guard Bool.random(using: &random), let present = arrival.firstIndex(of: place) else { continue }
            arrival.remove(at: present)
            arrival.insert(place, at: Int.random(in: present...arrival.count, using: &random))
        }
        self.init(facts, arrival: arrival, isProcessedLate: Bool.random(using: &random))
    }

    private init(_ facts: [Fact], arrival: [Int], isProcessedLate: Bool) {
        self.facts = facts
        self.arrival = arrival
        self.isProcessedLate = isProcessedLate
    }

    /// When a fact happened.
    static func time(_ place: Int) -> Date { start.addingTimeInterval(TimeInterval(place) * step) }

    var description: String {
        let told = arrival.map { "\(facts[$0].rawValue)@\($0)" }.joined(separator: ", ")
        return "[\(told)]\(isProcessedLate ? " processed late" : "")"
    }
}

/// What a story ends in.
struct Ending: Equatable, Sendable {
    struct Case: Equatable, Sendable {
        var requests: [Int]
        var state: RefundCase.State
        var outcome: RefundCase.Outcome?
        var owner: String?
    }

    var cases: [Case] = []
    /// What Apple gets, by `Fact.percentage`.
    var sent: [Int32] = []
    /// What is known of the purchase's use, by `Fact.usage`.
    var usage: Int32?
    /// What is known of the use of alice's product.
    var productUsage: Int32?
}
