import Foundation
import TestSupport
import Testing

/// Nobody honest is refused or kept waiting because somebody else attacks.
///
/// `make flood` plays every attack and prints figures, by the variables FLOOD_SECONDS and FLOOD_ATTACKS; no test asserts a time.
@Suite(.serialized) struct FloodTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["FLOOD_SECONDS"].flatMap { Int($0) }

    @Test(.enabled(if: seconds != nil, "played by `make flood`"))
    func `each attack, with figures for the honest beside it`() async throws {
        let chosen = (Self.environment["FLOOD_ATTACKS"] ?? "").split(separator: " ").map(String.init)
        let unknown = Set(chosen).subtracting(FloodAttack.all.map(\.name))
        #expect(unknown.isEmpty, "there are \(FloodAttack.all.map(\.name).joined(separator: " "))")
        for attack in FloodAttack.all where chosen.isEmpty || chosen.contains(attack.name) {
            let result = try await FloodRun.measure(attack, for: .seconds(Self.seconds ?? 1))
            print(result)
            #expect(result.violations.isEmpty, "\(attack): \(result.violations.joined(separator: "; "))")
            try Self.environment["FLOOD_REPORT"].map { path in
                let before = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
                try "\(before)\(result)\n".write(toFile: path, atomically: true, encoding: .utf8)
            }
        }
    }

    /// Those that can go on beside each other.
    private static let together = [
        "half-posts", "silent", "half-headers", "unknown-apps", "forged-headers",
    ]

    @Test(.enabled(if: seconds == nil, "`make flood` plays them one by one"))
    func `every notification is answered while strangers hold connections and flood with requests`() async throws {
        try await DaemonStage.with { stage in
            let daemon = try await stage.start()
            let attackers = try FloodAttack.all.filter { Self.together.contains($0.name) }.flatMap {
                try $0.start(stage)
            }
            #expect(attackers.count == Self.together.count)
            try await Wait.until("each of the attackers to have done something") {
                attackers.allSatisfy { $0.tally.connections > 15 }
            }
            // It is about who is answered, and takes no more of the machine than that needs.
            for attacker in attackers { attacker.slowDown(to: 1) }
            let client = try HonestClient(stage, patience: Wait.limit)
            let figures = await HonestTraffic(clients: (0..<3).map { _ in { await client.notify() } }).ask(times: 5)
            #expect(figures.failures == [])
            #expect(figures.count == 15)
            for attacker in attackers { attacker.stop() }
            try await Wait.until("the attackers to end") { attackers.allSatisfy(\.hasEnded) }
            await client.shutdown()
            #expect(try await daemon.terminate() == 0)
        }
    }
}
