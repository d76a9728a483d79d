import Foundation
import JSON

/// What callers were told, the App Store received and the daemon remembers: all that ``CrashComparison`` looks at.
struct CrashEvidence: Sendable {
    /// What callers wanted sent, and what they were answered.
    var sends: [Send] = []
    /// Moments from which on nothing may be sent, because a caller was answered so.
    var stops: [Stop] = []
    /// Transactions whose deliveries somebody wanted ended: the App Store decided, a caller declined or cancelled, whether it
    /// was answered or not.
    var ended: Set<String> = []
    /// What the App Store received.
    var receipts: [Receipt] = []
    /// What `GET …/deliveries` says at the end.
    var records: [Record] = []
    /// Ids of the events that a reader got who followed them through all kills, and of all that there are at the end.
    var (followedEvents, allEvents): ([String], [String]) = ([], [])

    /// One answer that a caller wanted sent, of a transaction that no other is about.
    struct Send: Sendable {
        let transactionID: String
        /// Apple's fields as the caller gave them.
        let fields: JSONValue
        /// The latest time at which Apple may get it; nil when the caller gave none.
        let deadline: Date?
        /// Answers to the request and its repetitions, in their order.
        var answers: [Answer] = []
    }

    /// What a caller was answered.
    struct Answer: Sendable {
        let status: Int
        /// The delivery that the answer names, if it names one.
        var deliveryID: String?
        var state: String?
        /// The problem's reason, for anything but a success.
        var reason: String?
    }

    /// A caller was answered that nothing more will be sent.
    struct Stop: Sendable {
        enum Cause: Sendable, Hashable {
            /// The user withdrew consent; until it is given again.
            case withdrawal
            /// A guardian rescinded consent for the Apple Account, and that was known here; until a guardian consents again.
            case rescission
            /// A case was declined, or a delivery cancelled.
            case decision
            /// A delivery was told to have ended without Apple.
            case told
        }

        let cause: Cause
        /// What it is about.
        let transactions: Set<String>
        /// When the answer had come, and the App Store had read what was in its sockets.
        let from: Date
        /// When a consent that ends it was sent off; nil for never.
        var until: Date?
    }

    /// Consumption information that came in.
    struct Receipt: Sendable {
        let transactionID: String
        let arrival: Date
        /// When it was answered, or its sender can have given it up at the latest.
        var end: Date?
        let body: [UInt8]
        /// What was answered; nil when the connection ended instead.
        let status: Int?
        /// Whether the App Store has it, whatever the daemon learnt of that.
        let isTaken: Bool
    }

    /// A delivery as it is kept.
    struct Record: Sendable {
        let id: String
        let transactionID: String
        let state: String
        let deadline: Date
        let attempts: [Attempt]
        let mayHaveReachedApple: Bool
        /// Why it was not accepted.
        let reason: String?
    }

    struct Attempt: Sendable {
        let startedAt: Date
        /// When it was over for who made it, whatever the App Store still did about it.
        var endedAt: Date?
        /// Nil when no answer came.
        let status: Int?
    }
}
