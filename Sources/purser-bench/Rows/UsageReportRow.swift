import Foundation

/// Row 12: reports of usage, a thousand at a time, as many as are taken, and ten thousand a second beside reads.
struct UsageReportRow: Row {
    let number = 12
    let title = "Usage reported, 1,000 in a request"
    let reference = "10,000 reports a second"
    let tools = [Tool.nginx, .wrk]

    private static let batch = 1000
    /// Batches a second beside reads, on one connection.
    private static let rate = 10.0
    private static let seconds = 2.0
    /// More batches than a core takes in as many seconds.
    private static let burst = 200
    private static let callers = 4
    private static let readers = 16

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let configuration = PurserConfiguration(name: "usage")
        let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
        let facade = FacadeLoad(daemon, configuration, bench)
        try await facade.warmUp()
        var figures = Figures()
        for repetition in 0..<bench.repetitions {
            let alone = try await facade.side.sample(connections: Self.readers, in: bench)
            let burst = try await reports(repetition * 2, connections: Self.callers, rate: nil, daemon, bench)
            async let reads = facade.side.load.run(
                connections: Self.readers, seconds: Int(Self.seconds), in: bench)
            let beside = try await reports(repetition * 2 + 1, connections: 1, rate: Self.rate, daemon, bench)
            figures.add(alone: alone.result, burst: burst, beside: beside, reads: try await reads)
        }
        return figures.all
    }

    /// What sending batches came to.
    private struct Sample {
        let outcome: LoadProbe.Outcome
        let cost: AnswerCost

        var reportsPerSecond: Double { outcome.successesPerSecond * Double(UsageReportRow.batch) }
    }

    /// The measurements of all repetitions.
    private struct Figures {
        private var burst = Figure("\(UsageReportRow.callers) callers, reports", .perSecond, goal: .ratioAtLeast(1))
        private var cost = Figure("\(UsageReportRow.callers) callers, processor time a report", .microseconds)
        private var threads = ThreadFigures("\(UsageReportRow.callers) callers, 1,000 reports")
        private var kept = Figure(
            "\(Int(UsageReportRow.rate)) batches a second beside reads, reports", .perSecond, goal: .ratioAtLeast(0.95))
        private var median = Figure("the same, p50 of a batch", .milliseconds)
        private var percentile99 = Figure("the same, p99 of a batch", .milliseconds)
        private var reads = Figure(
            "reads beside them, \(UsageReportRow.readers) connections", .perSecond, reference: "without them")
        private var waits = Figure(
            "reads beside them, p99", .milliseconds, reference: "without them")

        var all: [Figure] { [burst, cost] + threads.figures + [kept, median, percentile99, reads, waits] }

        mutating func add(alone: Wrk.Result, burst: Sample, beside: Sample, reads: Wrk.Result) {
            self.burst.add(burst.reportsPerSecond, against: UsageReportRow.rate * Double(UsageReportRow.batch))
            cost.add(burst.cost.microseconds / Double(UsageReportRow.batch))
            threads.add(burst.cost)
            kept.add(beside.reportsPerSecond, against: UsageReportRow.rate * Double(UsageReportRow.batch))
            median.add(beside.outcome.median)
            percentile99.add(beside.outcome.percentile99)
            self.reads.add(reads.requestsPerSecond, against: alone.requestsPerSecond)
            waits.add(reads.percentile99, against: alone.percentile99)
        }
    }

    /// Reports usage of purchases that nobody has reported of before, and looks whether the first of them is known.
    ///
    /// `run`: which purchases; `rate`: batches a second, nil for as many as are taken.
    private func reports(
        _ run: Int, connections: Int, rate: Double?, _ daemon: PurserDaemon, _ bench: Bench
    ) async throws -> Sample {
        let first = 7_000_000_000_000_000 + run * Self.burst * Self.batch
        let count = rate.map { Int($0 * Self.seconds) } ?? Self.burst
        let file = bench.folder.appending(path: "usage.requests")
        try RequestFile.write((0..<count).lazy.map { Self.request(first + $0 * Self.batch) }, to: file)
        let before = try daemon.usage()
        let outcome = try await bench.run(
            LoadProbe(
                port: daemon.ports.api, requests: file.path, connections: connections, seconds: Self.seconds, rate: rate
            ),
            core: bench.cores.load)
        let after = try daemon.usage()
        guard outcome.answers.keys.allSatisfy({ $0 == 200 }), outcome.successes > 0, outcome.broken == 0 else {
            throw BenchError("usage was answered \(outcome.trouble)")
        }
        // A batch of which every report was refused is a 200, too.
        try await check(first, daemon, bench)
        return Sample(
            outcome: outcome, cost: AnswerCost(from: before, to: after, answers: Double(outcome.successes)))
    }

    private func check(_ transaction: Int, _ daemon: PurserDaemon, _ bench: Bench) async throws {
        let file = bench.folder.appending(path: "usage-check.requests")
        let request = RequestFile.request(
            "GET", "/v1/apps/\(PurserConfiguration.app(0))/transactions/\(transaction)/usage?environment=Sandbox",
            headers: Self.headers)
        try RequestFile.write([request], to: file)
        let outcome = try await bench.run(
            LoadProbe(port: daemon.ports.api, requests: file.path, connections: 1, seconds: 20), core: bench.cores.load)
        guard outcome.successes == 1 else {
            throw BenchError("usage that was reported is not known: \(outcome.answers)")
        }
    }

    private static let headers = [("Authorization", "Bearer \(PurserConfiguration.token)")]

    /// A batch about purchases one after the other.
    private static func request(_ first: Int) -> [UInt8] {
        let at = Date().formatted(.iso8601)
        let reports = (first..<first + batch).map { transaction in
            """
            {"transactionId":"\(transaction)","environment":"Sandbox","at":"\(at)","deliveryStatus":"DELIVERED",\
            "sampleContentProvided":false,"consumptionPercentage":\(transaction % 100_001)}
            """
        }
        return RequestFile.request(
            "POST", "/v1/apps/\(PurserConfiguration.app(0))/usage:batch", headers: headers,
            body: Array("{\"usage\":[\(reports.joined(separator: ","))]}".utf8))
    }
}
