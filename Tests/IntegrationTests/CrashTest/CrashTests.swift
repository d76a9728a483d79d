import Foundation
import TestSupport
import Testing

/// The promise of the product: what it accepted reaches Apple before its deadline and with consent, or the caller is told why not.
///
/// `make crash-test` runs it long, by the variables CRASH_KILLS, CRASH_SECONDS and SEED, and COPIES for copies on one database.
struct CrashTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test(.enabled(if: CrashTests.environment["COPIES"] == nil, "copies are tested alone"))
    func `what callers were told is what the App Store received, whenever the daemon is killed`()
        async throws
    {
        try await Self.test(Self.plan(CrashRun.Plan(kills: 5, seed: Self.seed)))
    }

    @Test(
        .needsPostgres,
        .enabled(
            if: CrashTests.environment["COPIES"] != nil || CrashTests.environment["CRASH_KILLS"] == nil,
            "one daemon is tested alone"))
    func
        `it is so with several copies on one database, whichever is killed or stopped, and whatever befalls the server`()
        async throws
    {
        var plan = Self.plan(CrashRun.Plan(kills: 8, seed: Self.seed))
        plan.copies = Self.environment["COPIES"].flatMap { Int($0) } ?? 3
        try await Self.test(plan)
    }

    private static var seed: UInt64 { environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999) }

    /// A plan as the environment wants it.
    private static func plan(_ short: CrashRun.Plan) -> CrashRun.Plan {
        var plan = short
        if let kills = environment["CRASH_KILLS"].flatMap({ Int($0) }) {
            plan.kills = kills
            plan.users = 16
            plan.time = environment["CRASH_SECONDS"].flatMap { Int($0) }.map { .seconds($0) }
        }
        return plan
    }

    private static func test(_ plan: CrashRun.Plan) async throws {
        print("crash test, seed \(plan.seed)")
        let report = try await CrashRun.run(plan)
        print(report)
        try environment["CRASH_REPORT"].map {
            try "\(report)\n".write(toFile: $0, atomically: true, encoding: .utf8)
        }
        #expect(report.comparison.findings.isEmpty, "\(report)")
        #expect(report.comparison.deliveries > 0, "\(report)")
    }
}
