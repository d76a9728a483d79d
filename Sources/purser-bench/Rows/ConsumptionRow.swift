import Foundation

/// Row 4: consumption accepted durably, before anything goes to Apple.
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

/// Writes a page and waits until the disk has it, over and over: what a commit costs at least.
struct SyncProbe: Probe {
    static let name = "sync"

    struct Outcome: Codable, Sendable {
        let syncsPerSecond: Double
    }

    /// A page of SQLite's with the head of its frame in the log (https://www.sqlite.org/fileformat2.html, section 4.1).
    private static let frameBytes = 4096 + 24
    /// As long as the log is when SQLite begins anew at its start; the file is written before, since a growing one is slower.
    private static let fileBytes = 1000 * frameBytes

    /// The file to write to; it must be on the disk of the database.
    let path: String
    let seconds: Double

    func run() async throws -> Outcome {
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open") }
        defer {
            close(descriptor)
            unlink(path)
        }
        let page = [UInt8](repeating: 0x5A, count: Self.frameBytes)
        for offset in stride(from: 0, to: Self.fileBytes, by: Self.frameBytes) { try write(page, descriptor, offset) }
        guard fsync(descriptor) == 0 else { throw failure("fsync") }
        let start = ContinuousClock.now
        var count = 0
        var elapsed = Duration.zero
        repeat {
            try write(page, descriptor, count * Self.frameBytes % Self.fileBytes)
            guard fdatasync(descriptor) == 0 else { throw failure("fdatasync") }
            count += 1
            elapsed = start.duration(to: .now)
        } while elapsed < .seconds(seconds)
        return Outcome(syncsPerSecond: Double(count) / elapsed.inSeconds)
    }

    private func write(_ page: [UInt8], _ descriptor: Int32, _ offset: Int) throws {
        guard pwrite(descriptor, page, page.count, off_t(offset)) == page.count else { throw failure("write") }
    }

    private func failure(_ operation: String) -> BenchError {
        BenchError("cannot \(operation) \(path): \(String(cString: strerror(errno)))")
    }
}
