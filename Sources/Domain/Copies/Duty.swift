import Foundation
package import Logging
import Synchronization

/// Work that one copy of the daemon at a time does for all of them, under a lease.
///
/// A duty saves what several copies would do in vain; it is not what keeps them apart. A copy that was stopped may wake with its work
/// half done and not know yet that its lease is over, so whatever must not be done twice is decided in a transaction of its own.
package struct Duty: Sendable {
    /// How long a lease lasts that nobody takes for longer: after that another copy does the work.
    package static let lease = Duration.seconds(15)
    /// How often a holder takes it for longer, and the others ask for it.
    package static let interval = Duration.seconds(4)
    /// The work ends so long before its lease, if that cannot be taken for longer.
    private static let margin = Duration.seconds(3)

    private let name: String
    private let holder: String
    private let store: any CopyStore
    private let clock: ServiceClock
    private let logger: Logger

    /// - Parameters:
    ///   - name: what it is, the same in all copies.
    ///   - holder: this copy.
    ///   - store: lends leases.
    ///   - clock: the clocks.
    ///   - logger: told when the work changes hands.
    package init(_ name: String, holder: String, store: any CopyStore, clock: ServiceClock, logger: Logger) {
        self.name = name
        self.holder = holder
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// Does work whenever no other copy does, until the task is cancelled; at once and without a lease where the store is not shared.
    ///
    /// `work`: ends soon after its task is cancelled, and may be begun again after that.
    package func run(_ work: @escaping @Sendable (DutyLease) async -> Void) async {
        guard store.isShared else { return await work(.unlimited) }
        while !Task.isCancelled {
            let asked = clock.monotonicNow()
            if await isTaken() == true {
                logger.debug("This copy works for all", metadata: ["work": "\(name)"])
                await hold(work, since: asked)
            }
            guard (try? await clock.sleep(Self.interval)) != nil else { break }
        }
        // A task of its own, since a cancelled one's writes are not begun.
        await Task { [store, name, holder] in try? await store.giveBackLease(name, by: holder) }.value
    }

    /// Whether the lease is this copy's; nil when the store cannot be asked.
    private func isTaken() async -> Bool? {
        try? await store.takeLease(name, by: holder, for: Self.lease, at: clock.now())
    }

    /// Does the work for as long as the lease is this copy's.
    private func hold(
        _ work: @escaping @Sendable (DutyLease) async -> Void, since asked: ContinuousClock.Instant
    ) async {
        let lease = DutyLease(end: asked + Self.lease - Self.margin)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await work(lease) }
            group.addTask { await keep(lease) }
            // Whichever ends first: the lease, or the work as its task is cancelled.
            await group.next()
            group.cancelAll()
        }
    }

    /// Takes the lease for longer again and again; returns when it is about to end or is another copy's.
    private func keep(_ lease: DutyLease) async {
        while let end = lease.end, (try? await clock.sleep(min(Self.interval, clock.remaining(until: end)))) != nil {
            let now = clock.monotonicNow()
            let isTaken = await isTaken()
            if isTaken == true { lease.end = now + Self.lease - Self.margin }
            guard isTaken != false, lease.lasts(at: clock.monotonicNow()) else { break }
        }
        if !Task.isCancelled { logger.notice("Another copy works for all", metadata: ["work": "\(name)"]) }
    }
}

/// Until when what a copy does for all may begin: whatever goes out later may meet another copy's.
package final class DutyLease: Sendable {
    /// Of work that nobody else does.
    package static let unlimited = DutyLease(end: nil)

    private let state: Mutex<ContinuousClock.Instant?>

    package init(end: ContinuousClock.Instant?) { state = Mutex(end) }

    /// When it ends, as far as is known now, a margin before others may take it; nil for never.
    package var end: ContinuousClock.Instant? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Whether it goes on at a moment.
    package func lasts(at now: ContinuousClock.Instant) -> Bool { end.map { now < $0 } ?? true }
}
