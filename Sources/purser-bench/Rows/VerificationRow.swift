import Foundation

/// Row 2: verification of signed data on one core, in one process, from the compact form to the checked payload.
struct VerificationRow: Row {
    let number = 2
    let title = "Verification of signed data, one core"
    let reference = "openssl speed ecdsap256, verify"
    let tools = [Tool.openssl]

    func measure(in bench: Bench) async throws -> [Figure] {
        var warm = Figure("chain known", .perSecond, goal: .ratioAtLeast(1))
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
