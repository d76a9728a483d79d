import Foundation
import GRPCAPI
import Synchronization

/// Calls a method of gRPC with messages from a file, one call at a time on each of a number of connections.
struct GRPCLoadProbe: Probe {
    static let name = "grpc-load"

    struct Outcome: Codable, Sendable {
        let seconds: Double
        /// How many calls ended with each status.
        let statuses: [String: Int]
        /// Of successes, in milliseconds; 0 without any.
        let median: Double

        var successes: Int { statuses["OK"] ?? 0 }
    }

    let port: Int
    /// The method's path, such as `purser.v1.CasesService/ListCases`.
    let method: String
    /// A `RequestFile` of messages.
    let messages: String
    var token: String?
    let connections: Int
    /// When no further call begins.
    let seconds: Double

    func run() async throws -> Outcome {
        let calls = Calls(messages: try RequestFile.read(messages))
        let clock = ContinuousClock()
        let start = clock.now
        let end = start.advanced(by: .seconds(seconds))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<connections { group.addTask { try await callOnConnection(calls, until: end) } }
            try await group.waitForAll()
        }
        let ended = calls.ended
        return Outcome(
            seconds: start.duration(to: clock.now).inSeconds,
            statuses: Dictionary(ended.map { ($0.status, 1) }, uniquingKeysWith: +),
            median: Spread(ended.filter { $0.status == "OK" }.map(\.milliseconds))?.median ?? 0)
    }

    private func callOnConnection(_ calls: Calls, until end: ContinuousClock.Instant) async throws {
        let (clock, method, metadata) = (ContinuousClock(), method, metadata)
        try await CallClient.with(.init(.tcp(host: "127.0.0.1", port: port))) { client in
            while clock.now < end {
                let begun = clock.now
                let ending = try await client.call(method, calls.next(), metadata: metadata) { _ in }
                calls.note(ending.code, begun.duration(to: clock.now))
            }
        }
    }

    /// What all connections have in common.
    private final class Calls: Sendable {
        typealias Ended = (status: String, milliseconds: Double)

        private let messages: [[UInt8]]
        private let nextIndex = Atomic(0)
        private let all = Mutex<[Ended]>([])

        init(messages: [[UInt8]]) { self.messages = messages }

        var ended: [Ended] { all.withLock(\.self) }

        func next() -> [UInt8] { messages[nextIndex.add(1, ordering: .relaxed).oldValue % messages.count] }

        func note(_ status: String, _ time: Duration) { all.withLock { $0.append((status, time.inSeconds * 1000)) } }
    }

    private var metadata: [(name: String, value: String)] {
        token.map { [("authorization", "Bearer \($0)")] } ?? []
    }
}

/// A program that answers calls of gRPC, and who calls it.
struct GRPCSide: Sendable {
    let process: ChildProcess
    let port: Int
    let method: String
    /// A `RequestFile` of messages.
    let messages: String
    var token: String?

    /// Calls for a second, and looks at what an answer took.
    ///
    /// - Throws: `BenchError` when a call had another status than `OK`.
    // As of `GetSide`.
    @inline(never)
    func sample(connections: Int, in bench: Bench) async throws -> (rate: Double, cost: AnswerCost) {
        let before = try ProcessUsage(of: process.processID)
        let outcome = try await bench.run(
            GRPCLoadProbe(
                port: port, method: method, messages: messages, token: token, connections: connections, seconds: 1),
            core: bench.cores.load)
        let after = try ProcessUsage(of: process.processID)
        guard outcome.successes > 0, outcome.statuses.count == 1 else {
            throw BenchError("calls of \(method) ended with \(outcome.statuses)")
        }
        return (
            Double(outcome.successes) / outcome.seconds,
            AnswerCost(from: before, to: after, answers: Double(outcome.successes))
        )
    }
}
