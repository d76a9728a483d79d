import Foundation

/// Row 6: what a call to Apple costs the processor, at several numbers of calls in flight.
struct UpstreamClientRow: Row {
    let number = 6
    let title = "Upstream client, processor time for 10,000 calls"
    let reference = "AsyncHTTPClient"
    let tools = [Tool.nginx, .h2load]

    private static let calls = 10_000

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let levels = [1, 16, 64]
        let goals = [0.5, 0.45, 0.45]
        let floor = "h2load, a loop in C on the same HTTP/2 library"
        var curl = zip(levels, goals).map { Figure("HTTP client, \($0) in flight", .seconds, goal: .ratioAtMost($1)) }
        var overFloor = levels.map { Figure("HTTP client, \($0) in flight", .seconds, reference: floor) }
        var whole = levels.map { Figure("with token, budget, breaker, sharing, \($0) in flight", .seconds) }
        for _ in 0..<bench.repetitions {
            for (index, inFlight) in levels.enumerated() {
                let reference = try await run(.asyncHTTPClient, inFlight, upstream, bench)
                let seconds = try await run(.curl, inFlight, upstream, bench)
                curl[index].add(seconds, against: reference)
                overFloor[index].add(seconds, against: try await h2load(inFlight, upstream, bench))
                whole[index].add(try await run(.appStore, inFlight, upstream, bench), against: reference)
            }
        }
        return curl + overFloor + whole
    }

    private func run(
        _ client: UpstreamProbe.Client, _ inFlight: Int, _ upstream: Nginx, _ bench: Bench
    ) async throws -> Double {
        let probe = UpstreamProbe(
            client: client, fixtures: bench.fixtures.folder.path, port: upstream.port, calls: Self.calls,
            inFlight: inFlight)
        return try await bench.run(probe, core: bench.cores.service).processorSeconds
    }

    /// - Returns: the processor time of the same number of requests, TLS handshake included.
    private func h2load(_ inFlight: Int, _ upstream: Nginx, _ bench: Bench) async throws -> Double {
        let before = processorSeconds(ofChildren: true)
        let process = try await bench.start(
            try Tool.h2load.path(),
            [
                "-n\(Self.calls)", "-c1", "-m\(inFlight)", "-H",
                "Authorization: Bearer \(String(repeating: "t", count: 300))",
                "https://localhost:\(upstream.port)/inApps/v1/subscriptions/extend/mass/gems/1",
            ], core: bench.cores.service)
        let output = try await process.finished()
        guard output.contains("\(Self.calls) succeeded") else {
            throw BenchError("h2load: not every request succeeded")
        }
        return processorSeconds(ofChildren: true) - before
    }
}
