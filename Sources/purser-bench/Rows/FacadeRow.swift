/// Row 1: a small read through the facade, `GET /v1/apps/{app}/transactions/{transactionId}`.
///
/// Purser asks what stands for Apple over TLS and HTTP/2, verifies the signed transaction and answers it decoded; nginx
/// passes the same upstream's answer on over TLS.
struct FacadeRow: Row {
    let number = 1
    let title = "Small facade GET"
    let reference = "nginx as TLS reverse proxy"
    let tools = [Tool.nginx, .wrk]

    /// The measurements at one number of connections.
    private struct Level {
        let connections: Int
        var rate: Figure
        var median: Figure
        var percentile99: Figure
        var processor: Figure

        init(_ connections: Int) {
            self.connections = connections
            let place = connections == 1 ? "1 connection" : "\(connections) connections"
            rate = Figure("\(place), answers", .perSecond, goal: .ratioAtLeast(0.5))
            median = Figure("\(place), p50", .milliseconds)
            percentile99 = Figure("\(place), p99", .milliseconds)
            processor = Figure("\(place), processor time an answer", .microseconds)
        }

        var figures: [Figure] { [rate, median, percentile99, processor] }
    }

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let proxy = try await Nginx.proxy(to: upstream, in: bench)
        let configuration = PurserConfiguration(name: "facade")
        let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
        let facade = FacadeLoad(daemon, configuration, bench)
        try await facade.warmUp()
        let purser = facade.wrk
        let nginx = Wrk(port: proxy.port, path: "/inApps/v1/transactions/%d")
        var levels = [1, 16, 64, 256].map(Level.init)
        for _ in 0..<bench.repetitions {
            for index in levels.indices {
                let connections = levels[index].connections
                let (reference, referenceTime) = try await run(nginx, connections, proxy.process, bench)
                let (result, time) = try await run(purser, connections, daemon.process, bench)
                levels[index].rate.add(result.requestsPerSecond, against: reference.requestsPerSecond)
                levels[index].median.add(result.median, against: reference.median)
                levels[index].percentile99.add(result.percentile99, against: reference.percentile99)
                levels[index].processor.add(time, against: referenceTime)
            }
        }
        return levels.flatMap(\.figures)
    }

    /// - Returns: what wrk found, and the service's processor time an answer in microseconds.
    private func run(
        _ load: Wrk, _ connections: Int, _ service: ChildProcess, _ bench: Bench
    ) async throws -> (Wrk.Result, Double) {
        let before = try ProcessUsage(of: service.processID).processorSeconds
        let result = try await load.run(connections: connections, in: bench)
        let used = try ProcessUsage(of: service.processID).processorSeconds - before
        return (result, used / result.requestsPerSecond * 1e6)
    }
}
