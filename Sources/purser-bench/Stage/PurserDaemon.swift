import Foundation

/// `purser serve`, running and ready.
struct PurserDaemon: Sendable {
    /// Where it listens.
    struct Ports: Sendable {
        let api: Int
        let webhook: Int
    }

    let ports: Ports
    let process: ChildProcess
    /// From its start until it said that it is ready.
    let startTime: Duration

    /// Starts it on the core of the service.
    ///
    /// - Parameters:
    ///   - configuration: what to write into its file.
    ///   - upstream: what stands for Apple.
    ///   - bench: where.
    /// - Returns: the daemon, ready.
    /// - Throws: `BenchError` with its last words when it does not become ready.
    static func start(
        _ configuration: PurserConfiguration, upstream: Int, in bench: Bench
    ) async throws -> PurserDaemon {
        let ports = Ports(api: try Loopback.freePort(), webhook: try Loopback.freePort())
        let file = bench.folder.appending(path: "\(configuration.name).yaml")
        try configuration.yaml(ports, upstream: upstream, in: bench).write(to: file, atomically: true, encoding: .utf8)
        let socket = try ReadySocket()
        let program = try bench.program("purser")
        let start = ContinuousClock.now
        let process = try await bench.start(
            program, ["serve", "--config", file.path], environment: ["NOTIFY_SOCKET": socket.address],
            core: bench.cores.service)
        guard let ready = await socket.ready(of: process) else {
            throw BenchError("purser did not become ready: \(process.lastWords)")
        }
        return PurserDaemon(ports: ports, process: process, startTime: start.duration(to: ready))
    }

    /// Ends it and waits for that.
    func stop() async {
        process.terminate()
        _ = await process.exitStatus()
    }

    /// What it has used so far.
    func usage() throws(BenchError) -> ProcessUsage { try ProcessUsage(of: process.processID) }
}
