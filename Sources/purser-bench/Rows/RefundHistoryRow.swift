import Foundation

/// Row 3: a refund history of twenty transactions: fetched, verified and answered decoded.
struct RefundHistoryRow: Row {
    let number = 3
    let title = "Refund history of \(Fixtures.refundCount) transactions"
    let reference = "openssl speed ecdsap256, verify ÷ \(Fixtures.refundCount)"
    let tools = [Tool.nginx, .wrk, .openssl]

    private static let connections = 16

    func measure(in bench: Bench) async throws -> [Figure] {
        let upstream = try await Nginx.upstream(in: bench)
        let daemon = try await PurserDaemon.start(
            PurserConfiguration(name: "refunds"), upstream: upstream.port, in: bench)
        let purser = Wrk(
            port: daemon.ports.api, path: "/v1/apps/a0/transactions/%d/refunds?environment=Sandbox",
            token: PurserConfiguration.token)
        _ = try await purser.run(connections: Self.connections, seconds: 3, in: bench)
        var peers = try await startPeers(upstream, in: bench)
        var histories = Figure("histories", .perSecond, goal: .ratioAtLeast(1.2))
        histories.note =
            "\(bench.fixtures.signedCount) bytes a transaction"
            + (peers.isEmpty ? "; the Python peer was not there to be compared with" : "")
        for _ in 0..<bench.repetitions {
            let speed = try await OpenSSLSpeed.measure(in: bench)
            let result = try await purser.run(connections: Self.connections, in: bench)
            histories.add(
                result.requestsPerSecond, against: speed.verificationsPerSecond / Double(Fixtures.refundCount))
            for index in peers.indices {
                let peer = try await peers[index].load.run(connections: Self.connections, seconds: 2, in: bench)
                // It goes on with what nobody waits for any more.
                try await peers[index].process.settle()
                peers[index].figure.add(result.requestsPerSecond, against: peer.requestsPerSecond)
            }
        }
        return [histories] + peers.map(\.figure)
    }

    private struct Peer {
        let process: ChildProcess
        let load: Wrk
        var figure: Figure
    }

    private func startPeers(_ upstream: Nginx, in bench: Bench) async throws -> [Peer] {
        guard let peer = bench.pythonPeer else { return [] }
        var peers: [Peer] = []
        for (cachesChains, goal) in [(false, 80.0), (true, 20.0)] {
            let (process, port) = try await peer.start(cachesChains: cachesChains, upstream: upstream, in: bench)
            let load = Wrk(port: port, path: "/refunds/%d")
            let name = cachesChains ? "Python peer that keeps chains" : "Python peer"
            // Its first requests import and compile.
            _ = try await load.run(connections: 1, in: bench)
            try await process.settle()
            peers.append(
                Peer(
                    process: process, load: load,
                    figure: Figure(
                        "histories, against the \(name)", .perSecond, reference: name, goal: .ratioAtLeast(goal))))
        }
        return peers
    }
}

/// What a user would pick instead: a service on Apple's library for Python, of which the folder is not part of this
/// repository.
struct PythonPeer: Sendable {
    private let folder: String
    private let interpreter: String

    /// - Returns: nil unless both are there.
    init?(folder: String?, interpreter: String?) {
        guard let folder, let interpreter, access("\(folder)/service.py", R_OK) == 0, access(interpreter, X_OK) == 0
        else { return nil }
        self.folder = folder
        self.interpreter = interpreter
    }

    /// Starts it on the core of the service, where it answers `GET /refunds/{transactionId}`.
    ///
    /// - Parameters:
    ///   - cachesChains: whether it keeps verified chains, which the library by itself does not.
    ///   - upstream: what stands for Apple.
    ///   - bench: where.
    /// - Returns: the process, and its port.
    /// - Throws: `BenchError` when it does not listen.
    func start(cachesChains: Bool, upstream: Nginx, in bench: Bench) async throws -> (process: ChildProcess, port: Int)
    {
        let port = try Loopback.freePort()
        let process = try await bench.start(
            interpreter, ["\(folder)/service.py"],
            environment: [
                "DATA": bench.fixtures.folder.path, "UPSTREAM": "https://localhost:\(upstream.port)", "PORT": "\(port)",
                "CACHE_CHAIN": cachesChains ? "1" : "0", "PYTHONDONTWRITEBYTECODE": "1",
            ], core: bench.cores.service)
        try await Loopback.awaitListener(at: port, of: process)
        return (process, port)
    }
}
