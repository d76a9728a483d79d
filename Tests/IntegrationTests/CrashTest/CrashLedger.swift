import Foundation
import Synchronization
import TestSupport

/// Writes down, from many tasks, what callers want, are told and do.
final class CrashLedger: Sendable {
    private struct Content {
        var evidence = CrashEvidence()
        var places: [String: Int] = [:]
        /// The transactions of each user, and the user's withdrawals.
        var transactions: [String: Set<String>] = [:]
        var withdrawals: [String: [CrashEvidence.Stop]] = [:]
        var repetitions = 0
        var answers = 0
        /// How often each kind of fact was told to the end of its story.
        var facts: [String: Int] = [:]
        /// Those who wait for a number of answers; nil once nobody is to wait any more.
        var waiting: [(answers: Int, OneTime<Void>)]? = []
    }

    private let content = Mutex(Content())

    /// Requests that were made again because no answer came.
    var repetitions: Int { content.withLock { $0.repetitions } }
    /// Requests that were answered.
    var answers: Int { content.withLock { $0.answers } }
    /// Whether a delivery has been taken over.
    var hasDelivery: Bool {
        content.withLock { $0.evidence.sends.contains { $0.answers.contains { $0.deliveryID != nil } } }
    }

    /// How often each kind of fact was told to the end of its story, for people.
    var facts: String {
        content.withLock { content in
            content.facts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        }
    }

    func noteFact(_ kind: String) { content.withLock { $0.facts[kind, default: 0] += 1 } }

    func noteRepetition() { content.withLock { $0.repetitions += 1 } }

    func noteAnswer() {
        content.withLock { content in
            content.answers += 1
            let answers = content.answers
            for (target, reached) in content.waiting ?? [] where target <= answers { reached.give(()) }
            content.waiting?.removeAll { $0.answers <= answers }
        }
    }

    /// Waits until so many more requests have been answered, whoever made them, or nobody is to wait any more.
    ///
    /// - Throws: `WaitedInVain`.
    func moreAnswers(_ count: Int) async throws {
        let reached = OneTime<Void>()
        content.withLock { content in
            let target = content.answers + count
            if content.waiting == nil {
                reached.give(())
            } else {
                content.waiting?.append((target, reached))
            }
        }
        try await reached.value("\(count) more answers")
    }

    /// Lets nobody wait any more.
    func stopWaiting() {
        content.withLock { content in
            for (_, reached) in content.waiting ?? [] { reached.give(()) }
            content.waiting = nil
        }
    }

    func begin(_ send: CrashEvidence.Send, of user: String) {
        content.withLock { content in
            content.places[send.transactionID] = content.evidence.sends.count
            content.evidence.sends.append(send)
            content.transactions[user, default: []].insert(send.transactionID)
        }
    }

    /// Whose withdrawals stand against a transaction in the end.
    func holder(of transaction: String) -> String? {
        content.withLock { $0.transactions.first { $0.value.contains(transaction) }?.key }
    }

    func answer(_ answer: CrashEvidence.Answer, about transaction: String) {
        content.withLock { content in
            guard let place = content.places[transaction] else { return }
            content.evidence.sends[place].answers.append(answer)
        }
        if let state = answer.state, ["refused", "expired", "cancelled"].contains(state) {
            stop(.told, [transaction])
        }
    }

    /// From a time on, which is now unless it is given, nothing about these transactions may be sent.
    func stop(
        _ cause: CrashEvidence.Stop.Cause, _ transactions: Set<String>, from: Date = Date(), until: Date? = nil
    ) {
        let stop = CrashEvidence.Stop(cause: cause, transactions: transactions, from: from, until: until)
        content.withLock { $0.evidence.stops.append(stop) }
    }

    /// Somebody is about to end what is under way about a transaction.
    func end(_ transaction: String) {
        _ = content.withLock { $0.evidence.ended.insert(transaction) }
    }

    /// A user's withdrawal has been answered.
    func withdraw(_ user: String) {
        let stop = CrashEvidence.Stop(cause: .withdrawal, transactions: [], from: Date())
        content.withLock { $0.withdrawals[user, default: []].append(stop) }
    }

    /// The user is about to consent again.
    func consent(_ user: String) {
        let now = Date()
        content.withLock { content in
            guard var stops = content.withdrawals[user], let last = stops.indices.last else { return }
            stops[last].until = now
            content.withdrawals[user] = stops
        }
    }

    func receive(_ receipts: [CrashEvidence.Receipt]) {
        content.withLock { $0.evidence.receipts += receipts }
    }

    /// Everything, with each withdrawal about all of its user's transactions.
    var evidence: CrashEvidence {
        content.withLock { content in
            var evidence = content.evidence
            for (user, stops) in content.withdrawals {
                evidence.stops += stops.map { stop in
                    CrashEvidence.Stop(
                        cause: stop.cause, transactions: content.transactions[user] ?? [], from: stop.from,
                        until: stop.until)
                }
            }
            return evidence
        }
    }
}
