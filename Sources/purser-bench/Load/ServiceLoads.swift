import AppStoreAPI
import Foundation
import Synchronization

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
        try bench.fixtures.write(transactions: Wrk.transactions)
        let outcome = try await bench.run(
            LoadProbe(port: daemon.ports.api, requests: try requestFile(), connections: 64, seconds: 60),
            core: bench.cores.load)
        guard outcome.successes == Wrk.identifierCount else {
            throw BenchError("reads were answered \(outcome.trouble)")
        }
    }

    /// The daemon, asked by wrk.
    var side: GetSide {
        GetSide(
            load: Wrk(
                port: daemon.ports.api, path: "/v1/apps/a%a/transactions/%d?environment=Sandbox",
                distance: configuration.distance, token: PurserConfiguration.token),
            process: daemon.process)
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

/// Callers who send consumption for one purchase after the other and do not wait for Apple.
final class ConsumptionLoad: Sendable {
    /// More than any disk takes in a second.
    private static let requestsPerSecond = 40_000
    private static let seconds = 1.0
    /// How many of a second's purchases can be looked up before the limits of every app are used up.
    private static let lookUps = 2000

    private let daemon: PurserDaemon
    private let configuration: PurserConfiguration
    private let bench: Bench
    /// No purchase twice, not even in daemons that use the same store one after the other.
    private static let nextTransaction = Atomic(5_000_000_000_000_000)

    init(_ daemon: PurserDaemon, _ configuration: PurserConfiguration, _ bench: Bench) {
        self.daemon = daemon
        self.configuration = configuration
        self.bench = bench
    }

    /// What a second of sending came to.
    struct Sample: Sendable {
        let perSecond: Double
        /// The middle of the times that callers waited, in milliseconds.
        let median: Double
        let cost: AnswerCost
    }

    /// Sends for a second, and looks at what that took.
    ///
    /// - Throws: `BenchError` when one was not accepted.
    // Swift 6.3 crashes while it optimises the caller with this in it.
    @inline(never)
    func sample(callers: Int) async throws -> Sample {
        let requests = try requestFile(callers == 1 ? Self.requestsPerSecond / 8 : Self.requestsPerSecond)
        let before = try daemon.usage()
        let outcome = try await bench.run(
            LoadProbe(port: daemon.ports.api, requests: requests, connections: callers, seconds: Self.seconds),
            core: bench.cores.load)
        let after = try daemon.usage()
        guard outcome.answers.keys.allSatisfy({ $0 == 202 || $0 == 200 }), outcome.broken == 0 else {
            throw BenchError("consumption was answered \(outcome.trouble)")
        }
        return Sample(
            perSecond: outcome.successesPerSecond, median: outcome.median,
            cost: AnswerCost(from: before, to: after, answers: Double(outcome.successes)))
    }

    /// Writes requests about purchases that nobody has asked about yet, of which Apple knows those that can be looked up.
    private func requestFile(_ count: Int) throws -> String {
        let first = Self.nextTransaction.add(count, ordering: .relaxed).oldValue
        try bench.fixtures.write(transactions: first..<first + Self.lookUps)
        let file = bench.folder.appending(path: "\(configuration.name)-consumption.requests")
        let requests = (first..<first + count).lazy.map { [configuration] transaction in
            Self.request(transaction, app: configuration.measuredApp(transaction % PurserConfiguration.measuredApps))
        }
        try RequestFile.write(requests, to: file)
        return file.path
    }

    /// What Apple gets of each answer.
    static let body = """
        {"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,\
        "consumptionPercentage":60000,"refundPreference":"DECLINE"}
        """

    /// A request about one purchase.
    static func request(_ transaction: Int, app: String) -> [UInt8] {
        let body =
            "{\"transactionId\":\"\(transaction)\",\"environment\":\"Sandbox\"," + Self.body.dropFirst()
        return RequestFile.request(
            "POST", "/v1/apps/\(app)/users/user-\(transaction % 1000)/consumption",
            headers: [("Authorization", "Bearer \(PurserConfiguration.token)"), ("Prefer", "respond-async")],
            body: Array(body.utf8))
    }
}
