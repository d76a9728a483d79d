import Foundation
import Synchronization
import TestSupport

/// Many callers who ask one after the other, each on a connection of its own, while something is done to the daemon.
final class CallerCrowd: Sendable {
    private struct State {
        var answers: [Int: Int] = [:]
        /// What was answered instead of a success, and how often nothing was.
        var failures: [String] = []
        var isOver = false
    }

    private let client: LocalClient
    private let targets: [String]
    private let state = Mutex(State())

    init(_ client: LocalClient, asking targets: [String]) {
        self.client = client
        self.targets = targets
    }

    /// How many successes there were so far.
    var successes: Int { state.withLock { $0.answers[200] ?? 0 } }

    /// Everything that was no success.
    var failures: [String] { state.withLock(\.failures) }

    /// Waits until so many more requests have succeeded than now.
    ///
    /// - Throws: `Failed` as soon as one has not.
    func succeeds(times count: Int) async throws {
        let goal = successes + count
        try await Wait.until("\(goal) successes") {
            if let first = self.failures.first { throw Failed(description: first) }
            return self.successes >= goal
        }
    }

    /// What was answered instead of a success.
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// Lets callers ask for as long as a closure runs.
    ///
    /// - Returns: how many requests succeeded.
    @discardableResult
    func asks(callers count: Int = 64, during body: () async throws -> Void) async throws -> Int {
        try await withThrowingDiscardingTaskGroup { group in
            state.withLock { $0.isOver = false }
            for caller in 0..<count { group.addTask { await self.ask(from: caller) } }
            defer { state.withLock { $0.isOver = true } }
            try await body()
        }
        return successes
    }

    private func ask(from caller: Int) async {
        var next = caller
        while !state.withLock(\.isOver) {
            let reply = await client.send("GET", targets[next % targets.count])
            next += 1
            state.withLock { state in
                state.answers[reply?.status ?? 0, default: 0] += 1
                guard reply?.status != 200, state.failures.count < 20 else { return }
                let text = reply.map { "\($0.status) \(String(decoding: $0.body, as: UTF8.self))" }
                state.failures.append(text ?? "no answer")
            }
        }
    }
}
