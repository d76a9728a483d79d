/// Row 10: ten times as many requests as the service can answer.
struct OverloadRow: Row {
    let number = 10
    let title = "Overload, ten times what can be served"
    let reference = "the same service without overload"
    let tools = [Tool.nginx]

    /// As many as a listener takes by default, less a few.
    private static let connections = 1000

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let configuration = PurserConfiguration(name: "overload")
        let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
        let facade = FacadeLoad(daemon, configuration, bench)
        try await facade.warmUp()
        let requests = try facade.requestFile()
        func load(_ connections: Int, _ seconds: Double, rate: Double? = nil) async throws -> LoadProbe.Outcome {
            try await bench.run(
                LoadProbe(
                    port: daemon.ports.api, requests: requests, connections: connections, seconds: seconds,
                    rate: rate, repeats: true, areKept: true), core: bench.cores.load)
        }
        var percentile99 = Figure(
            "admitted, p99", .milliseconds, reference: "p99 at 100 requests a second", goal: .ratioAtMost(2))
        var answers = Figure("answered with success", .perSecond, reference: "64 connections", goal: .ratioAtLeast(0.9))
        var refused = Figure("share answered 429 or 503", .percent)
        var unsent = Figure("share that found no free connection", .percent, goal: .valueAtMost(5))
        var memory = Figure("memory", .megabytes, reference: "before")
        for _ in 0..<bench.repetitions {
            let idle = try await load(1, 1, rate: 100)
            let full = try await load(64, 1)
            let before = try daemon.usage().residentMegabytes
            let over = try await load(Self.connections, 2, rate: 10 * full.successesPerSecond)
            percentile99.add(over.percentile99, against: idle.percentile99)
            answers.add(over.successesPerSecond, against: full.successesPerSecond)
            let all = Double(max(1, over.total))
            refused.add(Double(over.answers[429, default: 0] + over.answers[503, default: 0]) / all * 100)
            unsent.add(Double(over.unsent) / (all + Double(over.unsent)) * 100)
            memory.add(try daemon.usage().residentMegabytes, against: before)
        }
        return [percentile99, answers, refused, unsent, memory]
    }
}
