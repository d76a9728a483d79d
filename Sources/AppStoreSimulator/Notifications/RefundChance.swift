import AppStoreAPI

/// How likely a refund is, by the customer's reason and by what the app answered, and what comes of it for a seed.
///
/// Apple says only that an answer is one of several factors. These weights are ours: they make answers matter about as much as
/// one would hope, so that a report over many requests has something to show.
struct RefundChance {
    /// The chance of a refund that nobody has answered, in percent.
    private static let base: [ConsumptionRequestReason: Int] = [
        .legal: 95, .fulfillmentIssue: 80, .unintendedPurchase: 70, .unsatisfiedWithPurchase: 60, .other: 50,
    ]
    /// Of a reason that Apple has yet to invent.
    private static let unknownReason = 50
    private static let weights: [RefundPreference: Int] = [.grantFull: 20, .grantProrated: 10, .decline: -35]
    /// What complete consumption takes away; part of it takes a part.
    private static let consumption = 30
    private static let undelivered = 30
    /// Nothing is certain.
    private static let range = 2...98
    /// How often Apple follows a wish for a prorated refund when it refunds at all, in percent.
    private static let followsProration = 80

    private let request: RefundRequest
    private let seed: UInt64

    init(_ request: RefundRequest, seed: UInt64) {
        self.request = request
        self.seed = seed
    }

    /// The chance of any refund, in percent.
    var percent: Int {
        var percent = Self.base[request.reason] ?? Self.unknownReason
        if let answer = request.answer {
            percent += answer.preference.flatMap { Self.weights[$0] } ?? 0
            percent -= Int(answer.consumed ?? 0) * Self.consumption / Int(Refund.whole)
            percent += answer.isDelivered ? 0 : Self.undelivered
        }
        return min(max(percent, Self.range.lowerBound), Self.range.upperBound)
    }

    /// What comes of it.
    ///
    /// - Parameters:
    ///   - purchase: what the customer wants the money back for.
    ///   - date: when it is decided, UNIX milliseconds.
    /// - Returns: the same each time.
    func decision(of purchase: TransactionPayload, at date: Int64) -> RefundRequest.Decision {
        // Drawn for each request from its own transaction, so that neither the order of the others nor their number matters.
        var generator = SeededGenerator(seed: seed ^ Self.hash(request.transactionID))
        let grants = Int.random(in: 0..<100, using: &generator) < percent
        let prorates = Int.random(in: 0..<100, using: &generator) < Self.followsProration
        guard grants else { return .decline }
        guard prorates, request.answer?.preference == .grantProrated else { return .refund(percentage: Refund.whole) }
        return .refund(percentage: purchase.proratedPercentage(consumed: request.answer?.consumed, at: date))
    }

    /// FNV-1a, since Swift's own hash differs from one process to the next.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
