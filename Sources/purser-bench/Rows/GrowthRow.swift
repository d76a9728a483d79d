/// Row 9: what a call costs when everything has grown, against what it costs when nothing has.
struct GrowthRow: Row {
    let number = 9
    let title = "Growth to 10,000 apps, 1 M users, 1 M queued deliveries"
    let reference = "10 apps, 1,000 users, 1,000 deliveries"
    let tools = [Tool.nginx, .wrk]

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let small = try await Side(.small, upstream, bench)
        let large = try await Side(.large, upstream, bench)
        var facade = Figure("small facade GET, 16 connections, processor time", .microseconds, goal: .ratioAtMost(1.1))
        var consumption = Figure(
            "consumption accepted, 64 callers, processor time", .microseconds, goal: .ratioAtMost(1.1))
        for _ in 0..<bench.repetitions {
            let few = try await small.facade.side.sample(connections: 16, in: bench)
            let many = try await large.facade.side.sample(connections: 16, in: bench)
            facade.add(many.cost.microseconds, against: few.cost.microseconds)
            let accepted = try await small.consumption.sample(callers: 64)
            let acceptedOfMany = try await large.consumption.sample(callers: 64)
            consumption.add(acceptedOfMany.cost.microseconds, against: accepted.cost.microseconds)
        }
        var start = Figure("what it does by itself after its start, processor time", .seconds)
        start.add(large.secondsAfterStart, against: small.secondsAfterStart)
        return [facade, consumption, start]
    }

    /// A daemon with a store of one size.
    private struct Side {
        let consumption: ConsumptionLoad
        let facade: FacadeLoad
        /// What it did by itself once it was ready, above all the search of each app's history at Apple, as processor time.
        let secondsAfterStart: Double

        init(_ size: StoreSize, _ upstream: Nginx, _ bench: Bench) async throws {
            var configuration = try await bench.filled(size, upstream: upstream.port)
            configuration.sends = false
            let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
            consumption = ConsumptionLoad(daemon, configuration, bench)
            facade = FacadeLoad(daemon, configuration, bench)
            let begun = try daemon.usage().processorSeconds
            try await daemon.process.settle()
            secondsAfterStart = try daemon.usage().processorSeconds - begun
            try await facade.warmUp()
        }
    }
}
