package import Foundation

/// What operators can do with the store while it is in use.
package struct StoreAdministration: Sendable {
    private let maintenance: any StoreMaintenance
    private let deliveries: any DeliveryStore
    private let now: WallClock
    private let sendingReleased: @Sendable () -> Void

    /// - Parameters:
    ///   - maintenance: the store as a whole.
    ///   - deliveries: those that wait while sending is held.
    ///   - now: the time of day.
    ///   - sendingReleased: told when sending goes on, so that what waits need not wait longer.
    init(
        maintenance: any StoreMaintenance, deliveries: any DeliveryStore, now: @escaping WallClock,
        sendingReleased: @escaping @Sendable () -> Void
    ) {
        self.maintenance = maintenance
        self.deliveries = deliveries
        self.now = now
        self.sendingReleased = sendingReleased
    }

    /// Copies the store into a new file; whoever opens the copy finds sending held.
    ///
    /// - Parameter path: of a file that does not exist yet.
    /// - Returns: the time that the copy is of.
    /// - Throws: `storeUnavailable`.
    package func backup(to path: String) async throws(ServiceError) -> Date {
        let now = now()
        try await maintenance.backup(to: path, at: now)
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
    package func releaseSending() async throws(ServiceError) -> (hold: SendingHold?, waiting: Int) {
        let waiting = try await deliveries.deliveryBacklog().reduce(0) { $0 + $1.count }
        let hold = try await deliveries.releaseSending(by: "operator", at: now())
        if let rest = try await deliveries.sendingHold(), !rest.isReleasable {
            throw ServiceError(.consentUnknown, rest.reason)
        }
        sendingReleased()
        return (hold, waiting)
    }
}
