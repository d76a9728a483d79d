import AppStoreClient
import Domain
import Foundation
import OpenSSL
import Synchronization

/// Row 2: verification of signed data on one core, in one process, from the compact form to the checked payload.
struct VerificationRow: Row {
    let number = 2
    let title = "Verification of signed data, one core"
    let reference = "openssl speed ecdsap256, verify"
    let tools = [Tool.openssl]

    func measure(in bench: Bench) async throws -> [Figure] {
        var warm = Figure("chain known", .perSecond, goal: .ratioAtLeast(1.9))
        var cold = Figure("chain checked each time", .perSecond)
        for _ in 0..<bench.repetitions {
            let speed = try await OpenSSLSpeed.measure(in: bench)
            let outcome = try await bench.run(
                VerificationProbe(fixtures: bench.fixtures.folder.path, seconds: 1), core: bench.cores.service)
            warm.add(outcome.warmPerSecond, against: speed.verificationsPerSecond)
            cold.add(outcome.coldPerSecond, against: speed.verificationsPerSecond)
        }
        warm.note = "signed transactions of \(bench.fixtures.signedCount) bytes"
        return [warm, cold]
    }
}

/// Verifies signed transactions, one after the other.
struct VerificationProbe: Probe {
    static let name = "verification"

    /// A second of processor time each.
    struct Outcome: Codable, Sendable {
        /// With a chain that is known.
        let warmPerSecond: Double
        /// With a chain that has to be checked each time.
        let coldPerSecond: Double
    }

    /// The folder of the fixtures.
    let fixtures: String
    /// How long each of the two loops takes, in processor time.
    let seconds: Double

    func run() async throws -> Outcome {
        let signed = try String(contentsOfFile: "\(fixtures)/transactions.txt", encoding: .utf8)
            .split(separator: "\n").map(String.init)
        let root = try Certificate(der: Array(Data(contentsOf: URL(filePath: "\(fixtures)/root.der"))))
        let app = App(slug: "coins", bundleID: Fixtures.bundleID)
        let warm = SignedDataVerifier(roots: [root], now: { Date() })
        // Each look at this clock finds everything expired that was kept before.
        let hours = Atomic<Int64>(0)
        let start = ContinuousClock.now
        let cold = SignedDataVerifier(
            roots: [root], now: { Date() },
            monotonicNow: { start.advanced(by: .seconds(7200 * hours.add(1, ordering: .relaxed).newValue)) })
        return Outcome(
            warmPerSecond: try rate(of: warm, signed, app), coldPerSecond: try rate(of: cold, signed, app))
    }

    private func rate(of verifier: SignedDataVerifier, _ signed: [String], _ app: App) throws -> Double {
        _ = try verifier.verify(signed[0], .transaction, app: app, environment: .sandbox)
        let start = processorSeconds()
        var count = 0
        var elapsed = 0.0
        repeat {
            for _ in 0..<20 {
                _ = try verifier.verify(signed[count % signed.count], .transaction, app: app, environment: .sandbox)
                count += 1
            }
            elapsed = processorSeconds() - start
        } while elapsed < seconds
        return Double(count) / elapsed
    }
}
