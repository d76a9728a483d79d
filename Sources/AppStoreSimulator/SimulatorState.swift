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
        var rateLimiter = RateLimiter()
        var received = ReceivedLog()
        var pageSize = SimulatorState.defaultPageSize
        var outbox: NotificationOutbox
        var refundRequests: RefundRequestStore
        var messaging = RetentionMessaging()
        var advancedCommerce = AdvancedCommerceLedger()

        init(seed: UInt64) {
            world = World(seed: seed)
            faults = FaultSchedule(seed: seed)
            outbox = NotificationOutbox(seed: seed)
            refundRequests = RefundRequestStore(seed: seed)
        }
    }

    private let content: Mutex<Content>
    private let seed: UInt64
    /// What the simulator dates things by.
    package let clock: SimulatorClock
    /// Comes when something may be due earlier than was known.
    let agendaChanges: AsyncStream<Void>
    private let agenda: AsyncStream<Void>.Continuation
    let observers = OccasionObservers()

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

    // MARK: What the servers do

    /// The faults that are set.
    package var faults: FaultSchedule { withContent { $0.faults } }

    /// Sets a fault.
    ///
    /// - Returns: Its id.
    @discardableResult
    package func inject(_ fault: Fault) -> String { withContent { $0.faults.add(fault) } }

    /// Removes a fault; false if there is none of that id.
    @discardableResult
    package func removeFault(_ id: String) -> Bool { withContent { $0.faults.remove(id) } }

    /// Removes all faults.
    package func removeAllFaults() { withContent { $0.faults.removeAll() } }

    /// Begins the random numbers of the faults anew.
    package func reseedFaults(_ seed: UInt64) { withContent { $0.faults.reseed(seed) } }

    /// The rate limits other than Apple's; where several apply, the last does.
    package var rateLimits: [RateLimitRule] {
        get { withContent { $0.rateLimiter.rules } }
        set { withContent { $0.rateLimiter.rules = newValue } }
    }

    /// Transactions in a page.
    package var pageSize: Int {
        get { withContent { $0.pageSize } }
        set { withContent { $0.pageSize = max(1, newValue) } }
    }

    /// What came in since the start or the last clearing.
    package var received: ReceivedLog { withContent { $0.received } }

    /// What is kept of what came in, which is forgotten in the same step.
    package func takeReceived() -> [ReceivedRequest] {
        withContent { content in
            defer { content.received.clear() }
            return content.received.requests
        }
    }

    /// Forgets what came in.
    package func clearReceived() { withContent { $0.received.clear() } }

    // MARK: Time

    /// Does what was due by now.
    func passTime() {
        let now = milliseconds
        if withContent({ $0.passTime(to: now) }) { agendaChanged() }
    }

    /// Changes the world in one step, after what was due before; what happens is notified of.
    func change<Result: Sendable>(
        _ body: (inout World, _ now: Int64) throws(ControlError) -> Result
    ) throws(ControlError) -> Result {
        let now = milliseconds
        defer { agendaChanged() }
        return try withContent { content throws(ControlError) in
            content.passTime(to: now)
            defer { content.postEvents() }
            return try body(&content.world, now)
        }
    }

    /// Waits until a condition holds, which is looked at now and at every such occasion; returns early if the task is cancelled.
    package func wait(for occasion: Occasion, until condition: (SimulatorState) async throws -> Bool) async rethrows {
        let occasions = observers.occasions(occasion)
        if try await condition(self) { return }
        for await _ in occasions where try await condition(self) { return }
    }
}

extension SimulatorState.Content {
    /// How many things happen by themselves before somebody else has a turn.
    private static let longestPass = 1000

    /// Does what was due by now, or as much of it as may be done in one pass; false if nothing was.
    @discardableResult
    mutating func passTime(to now: Int64) -> Bool {
        var steps = 0
        while steps < Self.longestPass, world.takeStep(by: now) {
            // At once, since a notification tells how things were when it happened.
            postEvents()
            steps += 1
        }
        return steps > 0
    }

    /// Notifies of what has happened.
    mutating func postEvents() {
        for event in world.takeEvents() {
            switch event.subject {
            case .transaction(let id):
                guard let record = world.records[id] else { continue }
                post(draft(event.type, event.subtype, about: record, at: event.date), now: event.date)
            case .summary(let summary):
                let draft = NotificationDraft(
                    event.type, event.subtype, of: event.app.bundleID, in: event.app.environment,
                    about: .summary(summary))
                post(draft, now: event.date)
            }
        }
    }
}

/// What can be waited for, since it happens when others have done their part.
package enum Occasion: Sendable, Hashable {
    /// A request came in and was recorded.
    case requestReceived
    /// A notification had an attempt.
    case notificationAttempted
    /// A performance test had one of its answers.
    case realtimeURLAsked
}

/// Tells whoever waits that something has happened; several occasions that were not heard yet count as one.
final class OccasionObservers: Sendable {
    private struct Listener {
        let occasion: Occasion
        let continuation: AsyncStream<Void>.Continuation
    }

    private let listeners = Mutex<(last: Int, all: [Int: Listener])>((0, [:]))

    func notify(_ occasion: Occasion) {
        let hearing = listeners.withLock { $0.all.values.filter { $0.occasion == occasion } }
        for listener in hearing { listener.continuation.yield() }
    }

    /// The occasions from now on; ends with the task that listens.
    func occasions(_ occasion: Occasion) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = listeners.withLock { state in
            state.last += 1
            state.all[state.last] = Listener(occasion: occasion, continuation: continuation)
            return state.last
        }
        continuation.onTermination = { [weak self] _ in self?.listeners.withLock { $0.all[number] = nil } }
        return stream
    }
}
