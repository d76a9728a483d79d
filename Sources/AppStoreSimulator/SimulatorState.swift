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
        var outbox: NotificationOutbox
        var refundDesk = RefundDesk()
        var messaging = MessagingDesk()
        var advancedCommerce = AdvancedCommerceLedger()

        init(seed: UInt64) {
            world = World(seed: seed)
            faults = FaultSchedule(seed: seed)
            outbox = NotificationOutbox(seed: seed)
        }
    }

    private let content: Mutex<Content>
    private let seed: UInt64
    /// What the simulator dates things by.
    package let clock: SimulatorClock
    /// Comes when something may be due earlier than was known.
    let agendaChanges: AsyncStream<Void>
    private let agenda: AsyncStream<Void>.Continuation
    let bell = OccasionBell()

    /// - Parameters:
    ///   - seed: makes identifiers and random faults come out the same.
    ///   - realTime: what the simulated clock goes by.
    package init(seed: UInt64, realTime: @escaping @Sendable () -> Date) {
        self.seed = seed
        clock = SimulatorClock(realTime: realTime)
        content = Mutex(Content(seed: seed))
        (agendaChanges, agenda) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Reads or changes the content in one step.
    func withContent<Result: Sendable, Failure: Error>(
        _ body: (inout sending Content) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try content.withLock(body)
    }

    /// Forgets everything but the seed; the clock agrees with real time again.
    package func reset() {
        clock.reset()
        content.withLock { $0 = Content(seed: seed) }
    }

    /// Has whoever waits for what is due look again.
    func agendaChanged() { agenda.yield() }

    var milliseconds: Int64 { clock.milliseconds }
}
