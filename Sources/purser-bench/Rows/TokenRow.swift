import CoreMetrics
import Domain
import Foundation
import KeyCustody
import Logging

/// Row 7: tokens for Apple: minting, looking up, and ten thousand apps at a time.
struct TokenRow: Row {
    let number = 7
    let title = "Tokens, 10,000 apps"
    let reference = "openssl speed ecdsap256, sign"
    let tools = [Tool.openssl]

    func measure(in bench: Bench) async throws -> [Figure] {
        var mint = Figure("minted", .perSecond)
        var lookUp = Figure("look-up", .nanoseconds, reference: "at 10 apps")
        var memory = Figure("memory of 10,000 tokens", .megabytes)
        for _ in 0..<bench.repetitions {
            let speed = try await OpenSSLSpeed.measure(in: bench)
            let few = try await bench.run(
                TokenMintProbe(key: bench.fixtures.path("api.p8"), apps: 10), core: bench.cores.service)
            let many = try await bench.run(
                TokenMintProbe(key: bench.fixtures.path("api.p8"), apps: 10_000), core: bench.cores.service)
            mint.add(many.mintsPerSecond, against: speed.signaturesPerSecond)
            lookUp.add(many.lookUpNanoseconds, against: few.lookUpNanoseconds)
            memory.add(many.residentBytes / 1_000_000)
        }
        return [mint, lookUp, memory]
    }
}

/// Mints a token for each of many apps, and looks them up.
struct TokenMintProbe: Probe {
    static let name = "tokens"

    struct Outcome: Codable, Sendable {
        /// A second of processor time.
        let mintsPerSecond: Double
        /// Processor time of one look-up.
        let lookUpNanoseconds: Double
        /// What the tokens take, in bytes.
        let residentBytes: Double
    }

    /// The `.p8` file.
    let key: String
    let apps: Int

    func run() async throws -> Outcome {
        let apps = (0..<apps).map { index in
            App(slug: PurserConfiguration.app(index), bundleID: "com.example.b\(index)")
        }
        let declaration = KeyDeclaration(
            keyID: Fixtures.keyID, issuerID: Fixtures.issuerID, path: key, source: .file(allowsGroupRead: false),
            state: .active, apps: apps.map(\.slug))
        let minter = TokenMinter(
            keys: try KeyRing(loading: [declaration]), clock: ServiceClock(now: { Date() }),
            audit: UnrecordedAudit(), metrics: NOOPMetricsHandler.instance,
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let before = try ProcessUsage(of: getpid())
        var start = processorSeconds()
        for app in apps { _ = try minter.token(for: app) }
        let mintSeconds = processorSeconds() - start
        let after = try ProcessUsage(of: getpid())
        let lookUps = 200_000
        start = processorSeconds()
        // Apps far from each other, so that the memory of one does not bring in that of the next.
        for index in 0..<lookUps { _ = try minter.token(for: apps[index &* 7919 % apps.count]) }
        return Outcome(
            mintsPerSecond: Double(apps.count) / mintSeconds,
            lookUpNanoseconds: (processorSeconds() - start) / Double(lookUps) * 1e9,
            residentBytes: after.residentBytes - before.residentBytes)
    }
}
