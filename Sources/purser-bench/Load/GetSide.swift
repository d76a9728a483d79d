import Foundation

/// A program that answers GETs, and who asks it.
struct GetSide: Sendable {
    /// What wrk found, and what the program spent on an answer.
    struct Sample: Sendable {
        let result: Wrk.Result
        let cost: AnswerCost
    }

    let load: Wrk
    let process: ChildProcess

    /// Asks for a second.
    ///
    /// - Throws: `BenchError`
    // Swift 6.3 crashes while it optimises some callers with this in them.
    @inline(never)
    func sample(connections: Int, in bench: Bench) async throws -> Sample {
        let before = try ProcessUsage(of: process.processID)
        let result = try await load.run(connections: connections, in: bench)
        let after = try ProcessUsage(of: process.processID)
        return Sample(
            result: result, cost: AnswerCost(from: before, to: after, answers: result.requestsPerSecond))
    }

    /// nginx as TLS reverse proxy of single transactions, which many rows are compared with.
    ///
    /// - Throws: `BenchError`
    static func nginx(_ upstream: Nginx, in bench: Bench) async throws -> GetSide {
        try bench.fixtures.write(transactions: Wrk.transactions)
        let proxy = try await Nginx.proxy(to: upstream, in: bench)
        return GetSide(load: Wrk(port: proxy.port, path: "/inApps/v1/transactions/%d"), process: proxy.process)
    }

    /// The smallest program with the parts of a service like ours, which is what the language and the libraries cost.
    ///
    /// - Throws: `BenchError`
    static func floor(_ upstream: Nginx, in bench: Bench) async throws -> GetSide {
        let plan = FloorServer(
            port: try Loopback.freePort(), upstream: upstream.port, fixtures: bench.fixtures.folder.path)
        let process = try await bench.start(
            try bench.program("purser-bench"),
            ["floor", String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)], core: bench.cores.service)
        try await Loopback.awaitListener(at: plan.port, of: process)
        return GetSide(load: Wrk(port: plan.port, path: "/%a/%d"), process: process)
    }
}
