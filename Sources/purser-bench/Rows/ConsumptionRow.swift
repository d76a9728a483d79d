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
            var one = Figure("1 caller, \(queued)", .perSecond, goal: .ratioAtLeast(0.6))
            var many = Figure("64 callers, \(queued)", .perSecond, goal: .ratioAtLeast(8))
            for _ in 0..<bench.repetitions {
                let disk = try await bench.run(
                    SyncProbe(path: bench.folder.appending(path: "sync").path, seconds: 0.5), core: bench.cores.service)
                one.add(try await load.accept(callers: 1), against: disk.syncsPerSecond)
                many.add(try await load.accept(callers: 64), against: disk.syncsPerSecond)
            }
            figures += [one, many]
            await daemon.stop()
        }
        return figures
    }
}
