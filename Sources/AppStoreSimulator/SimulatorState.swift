package import Foundation
import Synchronization

/// Everything that the simulator knows and that is set about it; what the control port changes and tests in the same process use directly.
///
/// Each method is one step: no two of them interleave.
package final class SimulatorState: Sendable {
    /// Transactions in a page unless set otherwise, as with Apple.
    package static let defaultPageSize = 20

    struct Content: Sendable {
        var world: World
        var faults: FaultSchedule
        var limits = RateLimits()
        var received = ReceivedLog()
        var pageSize = SimulatorState.defaultPageSize
    }

    private let content: Mutex<Content>
    private let seed: UInt64
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - seed: makes identifiers and random faults come out the same.
    ///   - now: dates purchases and refunds that do not say when they happened.
    package init(seed: UInt64, now: @escaping @Sendable () -> Date) {
        self.seed = seed
        self.now = now
        content = Mutex(Content(world: World(seed: seed), faults: FaultSchedule(seed: seed)))
    }

    /// Reads or changes the content in one step.
    func withContent<Result: Sendable, Failure: Error>(
        _ body: (inout sending Content) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try content.withLock(body)
    }

    /// Forgets everything but the seed.
    package func reset() {
        content.withLock { $0 = Content(world: World(seed: seed), faults: FaultSchedule(seed: seed)) }
    }

    var milliseconds: Int64 { Int64((now().timeIntervalSince1970 * 1000).rounded(.down)) }
}
