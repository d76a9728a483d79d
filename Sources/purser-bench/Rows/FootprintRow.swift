import Foundation

/// Row 8: what the daemon takes by being there.
struct FootprintRow: Row {
    let number = 8
    let title = "Footprint"
    let reference = "nothing"
    let tools = [Tool.nginx, .wrk, .strip]

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        var size = Figure("stripped binary", .megabytes)
        size.add(try await strippedMegabytes(bench))
        let empty = try await figures(
            PurserConfiguration(name: "footprint"), upstream, bench, start: .valueAtMost(60), idle: .valueAtMost(30))
        let large = try await figures(
            try await bench.filled(.large, upstream: upstream.port), upstream, bench, suffix: ", 10,000 apps, 1 M users"
        )
        return empty + large + [size]
    }

    /// Starts a daemon again and again, and looks at it before and after load.
    private func figures(
        _ configuration: PurserConfiguration, _ upstream: Nginx, _ bench: Bench, suffix: String = "",
        start startGoal: Goal? = nil, idle idleGoal: Goal? = nil
    ) async throws -> [Figure] {
        var start = Figure("exec to READY=1\(suffix)", .milliseconds, goal: startGoal)
        var idle = Figure("memory, idle\(suffix)", .megabytes, goal: idleGoal)
        var loaded = Figure("memory, after load\(suffix)", .megabytes)
        for _ in 0..<bench.repetitions {
            let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
            start.add(daemon.startTime.inSeconds * 1000)
            idle.add(try daemon.usage().residentMegabytes)
            let load = FacadeLoad(daemon, configuration, bench)
            try await load.warmUp()
            _ = try await load.wrk.run(connections: 64, in: bench)
            loaded.add(try daemon.usage().residentMegabytes)
            await daemon.stop()
        }
        return [start, idle, loaded]
    }

    private func strippedMegabytes(_ bench: Bench) async throws -> Double {
        let copy = bench.folder.appending(path: "purser-stripped").path
        let strip = try await bench.start(
            try Tool.strip.path(), ["-o", copy, try bench.program("purser")], core: bench.cores.load)
        _ = try await strip.finished()
        guard let size = try FileManager.default.attributesOfItem(atPath: copy)[.size] as? Int else {
            throw BenchError("\(copy) has no size")
        }
        return Double(size) / 1_000_000
    }
}
