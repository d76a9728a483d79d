import Foundation
import Testing

/// The promise of the product: what it accepted reaches Apple before its deadline and with consent, or the caller is told why not.
///
/// `make crash-test` runs it long, by the variables CRASH_KILLS, CRASH_SECONDS and SEED.
struct CrashTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test
    func `what callers were told is what the App Store received, whenever the daemon is killed`()
        async throws
    {
        let seed = Self.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
        var plan = CrashRun.Plan(kills: 5, seed: seed)
        if let kills = Self.environment["CRASH_KILLS"].flatMap({ Int($0) }) {
            plan.kills = kills
            plan.users = 16
            plan.time = Self.environment["CRASH_SECONDS"].flatMap { Int($0) }.map { .seconds($0) }
        }
        print("crash test, seed \(seed)")
        let report = try await CrashRun.run(plan)
        print(report)
        try Self.environment["CRASH_REPORT"].map {
            try "\(report)\n".write(toFile: $0, atomically: true, encoding: .utf8)
        }
        #expect(report.comparison.findings.isEmpty, "\(report)")
        #expect(report.comparison.deliveries > 0, "\(report)")
    }
}
