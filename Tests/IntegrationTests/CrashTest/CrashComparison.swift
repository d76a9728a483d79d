import Foundation
import JSON

/// Compares what callers were told with what the App Store received and with what the daemon remembers.
struct CrashComparison: Sendable {
    /// What can be wrong.
    enum Fault: String, Sendable, CaseIterable {
        /// A caller was told that it is on its way, and it neither arrived nor ended with a reason.
        case lost
        /// It was sent after its deadline.
        case late
        /// It was sent after a withdrawal had been answered, or a guardian's rescission was known.
        case unconsented
        /// It was sent after a caller had been answered that it never will be.
        case unwanted
        /// A caller was refused, or a delivery ended, and nobody was told why.
        case silent
        /// What arrived is not what the caller gave, or not always the same bytes.
        case altered
        /// It was sent while it was being sent.
        case twice
        /// A request that was repeated made a second delivery.
        case doubled
        /// The state is not what really happened.
        case untrue
        /// A reader of the events never got one, or in another order.
        case missed
    }

    struct Finding: Sendable {
        let fault: Fault
        let subject: String
        let detail: String
        /// What it is about, if that is one transaction.
        var transactionID: String?
    }

    let deliveries: Int
    /// How many deliveries there are of each state.
    let states: [String: Int]
    let findings: [Finding]

    func count(_ fault: Fault) -> Int { findings.count { $0.fault == fault } }

    init(_ evidence: CrashEvidence) {
        let receipts = Dictionary(grouping: evidence.receipts, by: \.transactionID)
        let records = Dictionary(grouping: evidence.records, by: \.transactionID)
        let stops = Self.stops(evidence.stops)
        var findings: [Finding] = []
        for send in evidence.sends {
            let judge = Judge(
                send: send, records: records[send.transactionID] ?? [],
                receipts: (receipts[send.transactionID] ?? []).sorted { $0.arrival < $1.arrival },
                stops: stops[send.transactionID] ?? [],
                isEnded: evidence.ended.contains(send.transactionID))
            findings += judge.findings
        }
        let known = Set(evidence.sends.map(\.transactionID))
        findings += Set(receipts.keys).union(records.keys).subtracting(known).sorted().map {
            Finding(
                fault: .untrue, subject: "transaction \($0)", detail: "nobody wanted anything sent about it"
            )
        }
        if evidence.followedEvents != evidence.allEvents {
            let missed = Set(evidence.allEvents).subtracting(evidence.followedEvents).sorted()
            findings.append(
                Finding(
                    fault: .missed, subject: "events",
                    detail: "\(missed.count) were missed, such as \(missed.prefix(5))"))
        }
        self.findings = findings
        deliveries = evidence.records.count
        states = Dictionary(grouping: evidence.records, by: \.state).mapValues(\.count)
    }

    private static func stops(_ all: [CrashEvidence.Stop]) -> [String: [CrashEvidence.Stop]] {
        var stops: [String: [CrashEvidence.Stop]] = [:]
        for stop in all {
            for transaction in stop.transactions { stops[transaction, default: []].append(stop) }
        }
        return stops
    }
}
