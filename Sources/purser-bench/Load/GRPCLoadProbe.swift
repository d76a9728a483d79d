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
        let messages = try RequestFile.read(messages)
        let next = Atomic(0)
        let clock = ContinuousClock()
        let calls = Mutex<[(status: String, milliseconds: Double)]>([])
        let start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<connections {
                group.addTask {
                    try await CallClient.with(.init(.tcp(host: "127.0.0.1", port: port))) { client in
                        while start.duration(to: clock.now) < .seconds(seconds) {
                            let message = messages[next.add(1, ordering: .relaxed).oldValue % messages.count]
                            let begun = clock.now
                            let ending = try await client.call(method, message, metadata: metadata) { _ in }
                            let time = begun.duration(to: clock.now).inSeconds * 1000
                            calls.withLock { $0.append((ending.code, time)) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = start.duration(to: clock.now).inSeconds
        let ended = calls.withLock(\.self)
        return Outcome(
            seconds: seconds, statuses: Dictionary(ended.map { ($0.status, 1) }, uniquingKeysWith: +),
            median: Spread(ended.filter { $0.status == "OK" }.map(\.milliseconds))?.median ?? 0)
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
