/// Row 1: a small read through the facade, `GET /v1/apps/{app}/transactions/{transactionId}`.
///
/// Purser asks what stands for Apple over TLS and HTTP/2, verifies the signed transaction and answers it decoded; nginx
/// passes the same upstream's answer on over TLS.
struct FacadeRow: Row {
    let number = 1
    let title = "Small facade GET"
    let reference = "nginx as TLS reverse proxy"
    let tools = [Tool.nginx, .wrk]

    /// What wrk found, and the service's processor time an answer.
    private struct Sample {
        let result: Wrk.Result
        let microseconds: Double
    }

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

        mutating func add(_ sample: Sample, against reference: Sample) {
            rate.add(sample.result.requestsPerSecond, against: reference.result.requestsPerSecond)
            median.add(sample.result.median, against: reference.result.median)
            percentile99.add(sample.result.percentile99, against: reference.result.percentile99)
            processor.add(sample.microseconds, against: reference.microseconds)
        }

        var figures: [Figure] { [rate, median, percentile99, processor] }
    }

    /// A program that answers, and who asks it.
    private struct Side {
        let load: Wrk
        let process: ChildProcess

        func sample(connections: Int, in bench: Bench) async throws -> Sample {
            let before = try ProcessUsage(of: process.processID).processorSeconds
            let result = try await load.run(connections: connections, in: bench)
            let used = try ProcessUsage(of: process.processID).processorSeconds - before
            return Sample(result: result, microseconds: used / result.requestsPerSecond * 1e6)
        }
    }

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let proxy = try await Nginx.proxy(to: upstream, in: bench)
        let configuration = PurserConfiguration(name: "facade")
        let daemon = try await PurserDaemon.start(configuration, upstream: upstream.port, in: bench)
        let facade = FacadeLoad(daemon, configuration, bench)
        try await facade.warmUp()
        let purser = Side(load: facade.wrk, process: daemon.process)
        let nginx = Side(load: Wrk(port: proxy.port, path: "/inApps/v1/transactions/%d"), process: proxy.process)
        var figures: [Figure] = []
        for connections in [1, 16, 64, 256] {
            figures += try await compare(purser, with: nginx, connections: connections, in: bench).figures
        }
        return figures
    }

    private func compare(
        _ purser: Side, with nginx: Side, connections: Int, in bench: Bench
    ) async throws -> Level {
        var level = Level(connections)
        for _ in 0..<bench.repetitions {
            let reference = try await nginx.sample(connections: connections, in: bench)
            level.add(try await purser.sample(connections: connections, in: bench), against: reference)
        }
        return level
    }
}
