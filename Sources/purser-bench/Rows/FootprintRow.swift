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
        var small = Footprint(
            start: .valueAtMost(60), idle: .valueAtMost(8.5), loaded: .valueAtMost(11.5), resident: .valueAtMost(45))
        try await measure(&small, PurserConfiguration(name: "footprint"), upstream, bench)
        var large = Footprint(", 10,000 apps, 1 M users", start: .valueAtMost(500))
        try await measure(&large, try await bench.filled(.large, upstream: upstream.port), upstream, bench)
        return small.figures + large.figures + [size]
    }

    /// The measurements of a daemon.
    private struct Footprint {
        var start: Figure
        var idle: Figure
        var resident: Figure
        var loaded: Figure
        var residentLoaded: Figure

        init(_ suffix: String = "", start: Goal, idle: Goal? = nil, loaded: Goal? = nil, resident: Goal? = nil) {
            self.start = Figure("exec to READY=1\(suffix)", .milliseconds, goal: start)
            self.idle = Figure("anonymous memory, idle\(suffix)", .megabytes, goal: idle)
            self.resident = Figure("resident memory, idle\(suffix)", .megabytes, goal: resident)
            self.loaded = Figure("anonymous memory, after load\(suffix)", .megabytes, goal: loaded)
            residentLoaded = Figure("resident memory, after load\(suffix)", .megabytes)
        }

        var figures: [Figure] { [start, idle, resident, loaded, residentLoaded] }
    }

    /// Starts a daemon again and again, and looks at it before and after load.
    private func measure(
        _ footprint: inout Footprint, _ configuration: PurserConfiguration, _ upstream: Nginx, _ bench: Bench
    ) async throws {
        for _ in 0..<bench.repetitions {
            let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
            footprint.start.add(daemon.startTime.inSeconds * 1000)
            let idle = try daemon.usage()
            footprint.idle.add(idle.anonymousMegabytes)
            footprint.resident.add(idle.residentMegabytes)
            let load = FacadeLoad(daemon, configuration, bench)
            try await load.warmUp()
            _ = try await load.side.sample(connections: 64, in: bench)
            let loaded = try daemon.usage()
            footprint.loaded.add(loaded.anonymousMegabytes)
            footprint.residentLoaded.add(loaded.residentMegabytes)
            await daemon.stop()
        }
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
