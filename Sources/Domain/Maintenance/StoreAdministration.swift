package import Foundation

/// What operators can do with the store while it is in use.
package struct StoreAdministration: Sendable {
    private let maintenance: any StoreMaintenance
    private let deliveries: any DeliveryStore
    private let audit: any AuditTrail
    private let now: WallClock
    private let sendingReleased: @Sendable () -> Void

    /// - Parameters:
    ///   - maintenance: the store as a whole.
    ///   - deliveries: those that wait while sending is held.
    ///   - audit: keeps what operators did.
    ///   - now: the time of day.
    ///   - sendingReleased: told when sending goes on, so that what waits need not wait longer.
    init(
        maintenance: any StoreMaintenance, deliveries: any DeliveryStore, audit: any AuditTrail,
        now: @escaping WallClock,
        sendingReleased: @escaping @Sendable () -> Void
    ) {
        self.maintenance = maintenance
        self.deliveries = deliveries
        self.audit = audit
        self.now = now
        self.sendingReleased = sendingReleased
    }

    /// Copies the store into a new file; whoever opens the copy finds sending held.
    ///
    /// - Parameters:
    ///   - path: of a file that does not exist yet.
    ///   - actor: who wants it.
    /// - Returns: the time that the copy is of.
    /// - Throws: `storeUnavailable`.
    package func backup(to path: String, by actor: Actor) async throws(ServiceError) -> Date {
        let now = now()
        try await maintenance.backup(to: path, at: now)
        await audit.settle(AuditAct(.storeBackedUp, by: actor, details: ["path": path]))
        return now
    }

    /// Looks at every page, index and reference of the store.
    ///
    /// - Returns: what is wrong, one sentence each; empty when nothing is.
    /// - Throws: `storeUnavailable`.
    package func problems() async throws(ServiceError) -> [String] { try await maintenance.checkIntegrity() }

    /// Lets deliveries be sent again, and those that wait at once.
    ///
    /// - Returns: the hold that ended, nil when there was none, and how many waited for its end.
    /// - Throws: `storeUnavailable`; `consentUnknown` when sending is held for a reason that nobody can release, which
    ///   it says.
    package func releaseSending(
        by actor: Actor
    ) async throws(ServiceError) -> (hold: SendingHold?, waiting: Int) {
        let waiting = try await deliveries.deliveryBacklog().reduce(0) { $0 + $1.count }
        let hold = try await deliveries.releaseSending(by: actor.name, at: now())
        if let rest = try await deliveries.sendingHold(), !rest.isReleasable {
            throw ServiceError(.consentUnknown, rest.reason)
        }
        sendingReleased()
        var details = ["waiting": String(waiting)]
        details["heldSince"] = hold?.since.formatted(.iso8601)
        await audit.settle(AuditAct(.sendingReleased, by: actor, details: details))
        return (hold, waiting)
    }
}
