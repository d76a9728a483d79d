/// Row 1: a small read through the facade, `GET /v1/apps/{app}/transactions/{transactionId}`.
///
/// Purser asks what stands for Apple over TLS and HTTP/2, verifies the signed transaction and answers it decoded; nginx
/// passes the same upstream's answer on over TLS. The floor is the smallest program with the same parts as Purser.
struct FacadeRow: Row {
    let number = 1
    let title = "Small facade GET"
    let reference = "nginx as TLS reverse proxy"
    let tools = [Tool.nginx, .wrk]

    /// The measurements at one number of connections.
    private struct Level {
        private static let floor = "the floor: the smallest program with the same parts"

        let connections: Int
        /// Whether goals are set, and the floor is measured.
        let isJudged: Bool
        var rate: Figure
        var median: Figure
        var percentile99: Figure
        var processor: Figure
        var overFloor: Figure
        var floor: Figure
        var threads: ThreadFigures

        init(_ connections: Int) {
            self.connections = connections
            isJudged = [16, 64].contains(connections)
            let place = connections == 1 ? "1 connection" : "\(connections) connections"
            rate = Figure("\(place), answers", .perSecond)
            median = Figure("\(place), p50", .milliseconds)
            percentile99 = Figure("\(place), p99", .milliseconds)
            let cost = "\(place), processor time an answer"
            processor = Figure(cost, .microseconds, goal: isJudged ? .ratioAtMost(4) : nil)
            overFloor = Figure(cost, .microseconds, reference: Self.floor, goal: .ratioAtMost(1.2))
            floor = Figure("\(place), the floor's processor time an answer", .microseconds)
            threads = ThreadFigures(place)
        }

        mutating func add(_ sample: GetSide.Sample, against reference: GetSide.Sample, floor lowest: GetSide.Sample?) {
            rate.add(sample.result.requestsPerSecond, against: reference.result.requestsPerSecond)
            median.add(sample.result.median, against: reference.result.median)
            percentile99.add(sample.result.percentile99, against: reference.result.percentile99)
            processor.add(sample.cost.microseconds, against: reference.cost.microseconds)
            guard let lowest else { return }
            overFloor.add(sample.cost.microseconds, against: lowest.cost.microseconds)
            floor.add(lowest.cost.microseconds, against: reference.cost.microseconds)
            threads.add(sample.cost)
        }

        var figures: [Figure] {
            [rate, median, percentile99, processor] + (isJudged ? [overFloor, floor] + threads.figures : [])
        }
    }

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let nginx = try await GetSide.nginx(upstream, in: bench)
        let floor = try await GetSide.floor(upstream, in: bench)
        let configuration = PurserConfiguration(name: "facade")
        let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
        let facade = FacadeLoad(daemon, configuration, bench)
        try await facade.warmUp()
        var figures: [Figure] = []
        for connections in [1, 16, 64, 256] {
            figures += try await compare(facade.side, nginx, floor, connections: connections, in: bench).figures
        }
        return figures
    }

    private func compare(
        _ purser: GetSide, _ nginx: GetSide, _ floor: GetSide, connections: Int, in bench: Bench
    ) async throws -> Level {
        var level = Level(connections)
        for _ in 0..<bench.repetitions {
            let reference = try await nginx.sample(connections: connections, in: bench)
            let lowest = level.isJudged ? try await floor.sample(connections: connections, in: bench) : nil
            level.add(
                try await purser.sample(connections: connections, in: bench), against: reference, floor: lowest)
        }
        return level
    }
}
