import AppStoreAPI
import AppStoreSimulator
import Foundation

/// How the App Store and the network misbehave while daemons are killed.
enum CrashFaults {
    /// Has other things go wrong from now on, or nothing for a while.
    static func change(_ state: SimulatorState, _ generator: inout SeededGenerator) {
        state.removeAllFaults()
        guard Int.random(in: 0..<4, using: &generator) > 0 else { return }
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let faults = [
            Fault(.status(500, errorCode: 5_000_000), probability: 0.1),
            Fault(.status(503), probability: 0.05),
            Fault(.connectionReset(afterProcessing: false), probability: 0.04),
            Fault(.connectionReset(afterProcessing: true), probability: 0.06),
            Fault(.latency(milliseconds: Int.random(in: 50...800, using: &generator)), probability: 0.3),
            // Beyond the time that an attempt may take.
            Fault(
                .latency(milliseconds: 3000), operation: .sendConsumptionInformation, probability: 0.03),
            Fault(
                .status(
                    429, errorCode: 4_290_000,
                    retryAfter: "\(now + Int64.random(in: 100...1500, using: &generator))"), probability: 0.05
            ),
        ]
        for fault in faults where Bool.random(using: &generator) { state.inject(fault) }
    }
}
