import Foundation

/// Row 4: consumption answers taken over durably, before anything goes to Apple.
struct ConsumptionRow: Row {
    let number = 4
    let title = "Consumption accepted durably"
    let reference = "fdatasync on the same disk"
    let tools = [Tool.nginx]

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let small = try await measure(.small, queued: "1 thousand queued", upstream, bench)
        let large = try await measure(.large, queued: "1 million queued", upstream, bench)
        return small + large
    }

    private func measure(
        _ size: StoreSize, queued: String, _ upstream: Nginx, _ bench: Bench
    ) async throws -> [Figure] {
        var configuration = try await bench.filled(size, upstream: upstream.port)
        configuration.sends = false
        let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
        let load = ConsumptionLoad(port: daemon.ports.api, configuration: configuration, bench: bench)
        let disk = SyncProbe(path: bench.folder.appending(path: "sync").path, seconds: 0.5)
        var one = Callers("1 caller, \(queued)", goal: 0.6)
        var many = Callers("64 callers, \(queued)", goal: 8)
        for _ in 0..<bench.repetitions {
            let syncs = try await bench.run(disk, core: bench.cores.service).syncsPerSecond
            one.add(try await load.sample(callers: 1, of: daemon), against: syncs)
            many.add(try await load.sample(callers: 64, of: daemon), against: syncs)
        }
        await daemon.stop()
        return one.figures + many.figures
    }

    /// What a number of callers get through.
    private struct Callers {
        var rate: Figure
        var processor: Figure

        init(_ name: String, goal: Double) {
            rate = Figure(name, .perSecond, goal: .ratioAtLeast(goal))
            processor = Figure("\(name), processor time an answer", .microseconds)
        }

        var figures: [Figure] { [rate, processor] }

        mutating func add(_ sample: ConsumptionLoad.Sample, against syncsPerSecond: Double) {
            rate.add(sample.perSecond, against: syncsPerSecond)
            processor.add(sample.microseconds)
        }
    }
}
