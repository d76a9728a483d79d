package import Logging

/// What operators, and those who follow what happens, use.
package struct Operations: Sendable {
    package let events: EventFeed
    package let store: StoreAdministration
    /// Judges owners anew where settings or links concern more cases than one operation should.
    package let owners: OwnerRefresher
    /// Apple's rate limits and what is used of them.
    package let budgets: RateBudgets
    /// Tells the other copies on the store that this one lives.
    package let heartbeat: CopyHeartbeat

    package struct Ports: Sendable {
        package var maintenance: any StoreMaintenance
        package var deliveries: any DeliveryStore
        package var events: any EventStore
        package var copies: any CopyStore
        /// Names this process for as long as it runs.
        package var copyID: String
        /// The ids of the master keys that this instance holds.
        package var masterKeyIDs: @Sendable () -> [String]
        /// Tells of every commit that kept events.
        package var changes: ChangeSignal
        package var budgets: RateBudgets
        package var clock: ServiceClock
        package var logger: Logger
    }

    /// `sendingReleased`: told when sending goes on after a hold, so that what waits need not wait longer.
    init(
        _ ports: Ports, copies: LivingCopies, audit: any AuditTrail, sendingReleased: @escaping @Sendable () -> Void
    ) {
        events = EventFeed(store: ports.events, changes: ports.changes, sleep: ports.clock.sleep)
        store = StoreAdministration(
            maintenance: ports.maintenance, deliveries: ports.deliveries, audit: audit, now: ports.clock.now,
            sendingReleased: sendingReleased)
        owners = OwnerRefresher(store: ports.maintenance, clock: ports.clock)
        budgets = ports.budgets
        heartbeat = CopyHeartbeat(
            id: ports.copyID, store: ports.copies, masterKeyIDs: ports.masterKeyIDs, living: copies, clock: ports.clock,
            logger: ports.logger)
    }
}
