import Foundation

/// Reads of single transactions through the facade of a daemon: many different ones, of ten apps.
struct FacadeLoad: Sendable {
    private let daemon: PurserDaemon
    private let configuration: PurserConfiguration
    private let bench: Bench

    init(_ daemon: PurserDaemon, _ configuration: PurserConfiguration, _ bench: Bench) {
        self.daemon = daemon
        self.configuration = configuration
        self.bench = bench
    }

    /// Reads every transaction once, so that each is known, as it is in a service that has been running.
    ///
    /// - Throws: `BenchError` when one cannot be read.
    func warmUp() async throws {
        let outcome = try await bench.run(
            LoadProbe(port: daemon.ports.api, requests: try requestFile(), connections: 64, seconds: 60),
            core: bench.cores.load)
        guard outcome.successes == Wrk.identifierCount else {
            throw BenchError("reads were answered \(outcome.answers), \(outcome.broken) not at all")
        }
    }

    /// The load as wrk makes it.
    var wrk: Wrk {
        Wrk(
            port: daemon.ports.api, path: "/v1/apps/a%a/transactions/%d?environment=Sandbox",
            distance: configuration.distance, token: PurserConfiguration.token)
    }

    /// Writes one request for each transaction.
    ///
    /// - Returns: the path of the `RequestFile`.
    func requestFile() throws -> String {
        let file = bench.folder.appending(path: "\(configuration.name)-reads.requests")
        let requests = (0..<Wrk.identifierCount).lazy.map { index in
            RequestFile.request(
                "GET",
                "/v1/apps/\(configuration.measuredApp(index % PurserConfiguration.measuredApps))/transactions/"
                    + "\(Wrk.firstIdentifier + index)?environment=Sandbox",
                headers: [("Authorization", "Bearer \(PurserConfiguration.token)")])
        }
        try RequestFile.write(requests, to: file)
        return file.path
    }
}
