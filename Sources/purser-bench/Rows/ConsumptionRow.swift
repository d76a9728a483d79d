import Foundation
import GRDB

/// Row 4: consumption accepted durably, before anything goes to Apple.
struct ConsumptionRow: Row {
    let number = 4
    let title = "Consumption accepted durably"
    let reference = "nginx as TLS reverse proxy, an answer"
    let tools = [Tool.nginx, .wrk]

    private static let callers = 64

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let nginx = try await GetSide.nginx(upstream, in: bench)
        let few = try await load(.small, upstream, bench)
        let million = try await load(.large, upstream, bench)
        let commit = CommitProbe(path: bench.folder.appending(path: "commits.db").path, seconds: 0.5)
        var small = Backlog("1 thousand queued", isJudged: true)
        var large = Backlog("1 million queued")
        var growth = Figure(
            "1 caller, 1 million queued, processor time an answer", .microseconds, reference: "1 thousand queued",
            goal: .ratioAtMost(1.2))
        for _ in 0..<bench.repetitions {
            let proxy = try await nginx.sample(connections: Self.callers, in: bench).cost.microseconds
            let row = try await bench.run(commit, core: bench.cores.service).median
            let one = try await few.sample(callers: 1)
            small.add(one: one, many: try await few.sample(callers: Self.callers), nginx: proxy, commit: row)
            let oneOfMillion = try await million.sample(callers: 1)
            large.add(
                one: oneOfMillion, many: try await million.sample(callers: Self.callers), nginx: proxy, commit: row)
            growth.add(oneOfMillion.cost.microseconds, against: one.cost.microseconds)
        }
        return small.figures + large.figures + [growth]
    }

    private func load(_ size: StoreSize, _ upstream: Nginx, _ bench: Bench) async throws -> ConsumptionLoad {
        var configuration = try await bench.filled(size, upstream: upstream.port)
        configuration.sends = false
        let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
        // Ten thousand apps have a history each, which is searched at the start.
        try await daemon.process.settle()
        return ConsumptionLoad(daemon, configuration, bench)
    }

    /// The measurements of a daemon with so many deliveries queued.
    private struct Backlog {
        private var rateOfOne: Figure
        private var medianOfOne: Figure
        private var costOfOne: Figure
        private var rateOfMany: Figure
        private var costOfMany: Figure
        private var threads: ThreadFigures

        /// `isJudged`: whether goals are set.
        init(_ queued: String, isJudged: Bool = false) {
            let (one, many) = ("1 caller, \(queued)", "\(ConsumptionRow.callers) callers, \(queued)")
            rateOfOne = Figure("\(one), answers", .perSecond)
            medianOfOne = Figure(
                "\(one), p50", .milliseconds, reference: "p50 of a bare SQLite commit of one row",
                goal: isJudged ? .ratioAtMost(3) : nil)
            costOfOne = Figure("\(one), processor time an answer", .microseconds)
            rateOfMany = Figure("\(many), answers", .perSecond)
            costOfMany = Figure(
                "\(many), processor time an answer", .microseconds, goal: isJudged ? .ratioAtMost(3.5) : nil)
            threads = ThreadFigures(many)
        }

        var figures: [Figure] {
            [rateOfOne, medianOfOne, costOfOne, rateOfMany, costOfMany] + threads.figures
        }

        mutating func add(
            one: ConsumptionLoad.Sample, many: ConsumptionLoad.Sample, nginx: Double, commit: Double
        ) {
            rateOfOne.add(one.perSecond)
            medianOfOne.add(one.median, against: commit)
            costOfOne.add(one.cost.microseconds, against: nginx)
            rateOfMany.add(many.perSecond)
            costOfMany.add(many.cost.microseconds, against: nginx)
            threads.add(many.cost)
        }
    }
}

/// Commits one small row after the other to a database of its own, as durably as the daemon does: what an answer that is on
/// disk costs at least.
struct CommitProbe: Probe {
    static let name = "commit"

    struct Outcome: Codable, Sendable {
        /// The middle of the times of one commit, in milliseconds.
        let median: Double
    }

    /// The database, which is made; it must be on the disk of the daemon's.
    let path: String
    let seconds: Double

    func run() async throws -> Outcome {
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try prepare(queue)
        let times = try commit(to: queue)
        try queue.close()
        guard let median = Spread(times)?.median else { throw BenchError("nothing was committed to \(path)") }
        return Outcome(median: median)
    }

    private func prepare(_ queue: DatabaseQueue) throws {
        try queue.inDatabase { database in
            // GRDB has set less on its way to the write-ahead log.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
                throw BenchError("\(path) is not synced in full")
            }
            try database.execute(sql: "CREATE TABLE IF NOT EXISTS row (id TEXT PRIMARY KEY, body TEXT) STRICT")
        }
    }

    /// - Returns: the time of each commit, in milliseconds.
    private func commit(to queue: DatabaseQueue) throws -> [Double] {
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: .seconds(seconds))
        var times: [Double] = []
        repeat {
            let arguments: StatementArguments = [UUID().uuidString, ConsumptionLoad.body]
            let start = clock.now
            try queue.inDatabase { database in
                try database.cachedStatement(sql: "INSERT INTO row VALUES (?, ?)").execute(arguments: arguments)
            }
            times.append(start.duration(to: clock.now).inSeconds * 1000)
        } while clock.now < end
        return times
    }
}
