import Foundation

/// Row 4: consumption answers taken over durably, before anything goes to Apple.
struct ConsumptionRow: Row {
    let number = 4
    let title = "Consumption accepted durably"
    let reference = "fdatasync on the same disk"
    let tools = [Tool.nginx]

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        var figures: [Figure] = []
        for size in [StoreSize.small, .large] {
            var configuration = try await bench.filled(size, upstream: upstream.port)
            configuration.sends = false
            let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
            let load = ConsumptionLoad(port: daemon.ports.api, configuration: configuration, bench: bench)
            let queued = size == .small ? "1 thousand queued" : "1 million queued"
            var one = Callers(1, queued, goal: 0.6)
            var many = Callers(64, queued, goal: 8)
            for _ in 0..<bench.repetitions {
                let disk = try await bench.run(
                    SyncProbe(path: bench.folder.appending(path: "sync").path, seconds: 0.5), core: bench.cores.service)
                try await one.accept(by: load, daemon, against: disk.syncsPerSecond)
                try await many.accept(by: load, daemon, against: disk.syncsPerSecond)
            }
            figures += one.figures + many.figures
            await daemon.stop()
        }
        return figures
    }

    /// What a number of callers get through.
    private struct Callers {
        let count: Int
        var rate: Figure
        var processor: Figure

        init(_ count: Int, _ queued: String, goal: Double) {
            self.count = count
            let place = (count == 1 ? "1 caller, " : "\(count) callers, ") + queued
            rate = Figure(place, .perSecond, goal: .ratioAtLeast(goal))
            processor = Figure("\(place), processor time an answer", .microseconds)
        }

        var figures: [Figure] { [rate, processor] }

        mutating func accept(
            by load: ConsumptionLoad, _ daemon: PurserDaemon, against syncsPerSecond: Double
        ) async throws {
            let before = try daemon.usage().processorSeconds
            let accepted = try await load.accept(callers: count)
            let used = try daemon.usage().processorSeconds - before
            rate.add(accepted, against: syncsPerSecond)
            processor.add(used / (accepted * ConsumptionLoad.seconds) * 1e6)
        }
    }
}
