import Foundation
import JSON

extension CrashComparison {
    /// Looks at one answer that a caller wanted sent.
    struct Judge {
        let send: CrashEvidence.Send
        let records: [CrashEvidence.Record]
        /// By arrival.
        let receipts: [CrashEvidence.Receipt]
        let stops: [CrashEvidence.Stop]
        /// Whether somebody wanted it ended.
        let isEnded: Bool

        var findings: [Finding] { promises + ends + contents + times + overlaps }

        /// Of one transaction one thing is sent at a time.
        private var overlaps: [Finding] {
            zip(receipts, receipts.dropFirst()).compactMap { earlier, later in
                guard let end = end(of: earlier), earlier.status != nil, later.arrival < end else { return nil }
                return finding(.twice, "something arrived at \(later.arrival), what had come before ended at \(end)")
            }
        }

        /// When something that arrived was over: it was answered, or its sender had seen its connection end before.
        private func end(of receipt: CrashEvidence.Receipt) -> Date? {
            let seen = records.flatMap(\.attempts).first { attempt in
                guard attempt.status == nil, let end = attempt.endedAt else { return false }
                return attempt.startedAt <= receipt.arrival && receipt.arrival <= end
            }
            return [seen?.endedAt, receipt.end].compactMap(\.self).min()
        }

        private func finding(_ fault: Fault, _ detail: String) -> Finding {
            Finding(
                fault: fault, subject: "transaction \(send.transactionID)", detail: detail,
                transactionID: send.transactionID)
        }

        /// What callers were told holds.
        private var promises: [Finding] {
            var findings: [Finding] = []
            for answer in send.answers {
                let isSuccess = (200..<300).contains(answer.status)
                if !isSuccess, answer.reason == nil {
                    findings.append(finding(.silent, "a \(answer.status) without a reason"))
                }
                guard let id = answer.deliveryID else {
                    if isSuccess {
                        findings.append(finding(.silent, "a \(answer.status) without a delivery"))
                    }
                    continue
                }
                guard let record = records.first(where: { $0.id == id }) else {
                    findings.append(
                        finding(.lost, "delivery \(id), told with \(answer.status), is not known any more"))
                    continue
                }
                if let told = answer.state, Self.final.contains(told), told != record.state {
                    findings.append(finding(.untrue, "told to be \(told), delivery \(id) is \(record.state)"))
                }
            }
            let told = Set(send.answers.compactMap(\.deliveryID))
            if records.count > 1 {
                findings.append(
                    finding(.doubled, "\(records.count) deliveries came of one request and its repetitions"))
            }
            if let untold = records.first(where: { !told.contains($0.id) }) {
                findings.append(finding(.silent, "nobody was told of delivery \(untold.id)"))
            }
            if send.answers.isEmpty { findings.append(finding(.silent, "no answer ever came")) }
            return findings
        }

        private static let final: Set = ["accepted", "refused", "expired", "cancelled"]

        /// Each delivery has ended, for a reason, and truly so.
        private var ends: [Finding] {
            var findings: [Finding] = []
            if records.isEmpty, !receipts.isEmpty {
                findings.append(finding(.untrue, "it arrived, but there is no delivery"))
            }
            for record in records {
                let wasTaken = receipts.contains(where: \.isTaken)
                switch record.state {
                case "accepted":
                    if !receipts.contains(where: { $0.status == 202 }) {
                        findings.append(finding(.lost, "delivery \(record.id) is accepted, but never arrived"))
                    }
                case "refused", "expired", "cancelled":
                    if record.reason == nil {
                        findings.append(
                            finding(.silent, "delivery \(record.id) is \(record.state) for no reason"))
                    }
                    if wasTaken, !record.mayHaveReachedApple {
                        findings.append(
                            finding(
                                .untrue, "delivery \(record.id) arrived, but is said not to have reached Apple"))
                    }
                    findings += unjustified(record)
                default:
                    findings.append(finding(.lost, "delivery \(record.id) is \(record.state) for good"))
                }
            }
            return findings
        }

        /// A delivery may end without Apple only for what really happened.
        private func unjustified(_ record: CrashEvidence.Record) -> [Finding] {
            let isJustified =
                switch record.state {
                case "refused":
                    receipts.contains { (400..<500).contains($0.status ?? 0) && $0.status != 429 }
                case "cancelled": isEnded || stops.contains { $0.cause != .told }
                // A caller's deadline; Apple's own of twelve hours is beyond every run.
                default: send.deadline != nil
                }
            return isJustified
                ? []
                : [
                    finding(.lost, "delivery \(record.id) is \(record.state) although nothing called for it")
                ]
        }

        /// The same bytes each time, and what the caller gave.
        private var contents: [Finding] {
            guard let first = receipts.first?.body else { return [] }
            if receipts.contains(where: { $0.body != first }) {
                return [finding(.altered, "different bytes arrived")]
            }
            return Self.members(try? JSONValue(parsing: first)) == Self.members(send.fields)
                ? [] : [finding(.altered, "\(String(decoding: first, as: UTF8.self)) arrived instead")]
        }

        /// The members of an object, whose order does not matter.
        private static func members(_ value: JSONValue?) -> [String: JSONValue]? {
            value?.object.map { Dictionary($0.members.map { ($0.key, $0.value) }) { first, _ in first } }
        }

        /// Nothing was sent when nothing might be.
        private var times: [Finding] {
            var findings: [Finding] = []
            for stop in stops {
                let fault: Fault = [.withdrawal, .rescission].contains(stop.cause) ? .unconsented : .unwanted
                let until = stop.until ?? .distantFuture
                findings += receipts.filter { stop.from < $0.arrival && $0.arrival < until }.map {
                    finding(fault, "something arrived at \($0.arrival), after the \(stop.cause) of \(stop.from)")
                }
            }
            return findings + records.flatMap(lateness)
        }

        /// What was sent after the deadline.
        ///
        /// An attempt that began before and whose outcome the daemon never learnt accounts for one arrival: its bytes were on
        /// their way already.
        private func lateness(_ record: CrashEvidence.Record) -> [Finding] {
            let begun = record.attempts.filter { $0.startedAt > record.deadline }
            let onTheirWay = record.attempts.count { $0.startedAt <= record.deadline && $0.status == nil }
            let arrived = receipts.filter { $0.arrival > record.deadline }.dropFirst(onTheirWay)
            let deadline = "the deadline of delivery \(record.id), \(record.deadline)"
            return begun.map { finding(.late, "an attempt began at \($0.startedAt), after \(deadline)") }
                + arrived.map { finding(.late, "something arrived at \($0.arrival), after \(deadline)") }
        }
    }
}
