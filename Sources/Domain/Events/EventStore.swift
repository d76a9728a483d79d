package import Foundation

/// Keeps what happened, in the order of commits: whoever reads on from a position never misses an event.
///
/// Every method throws `storeUnavailable`.
package protocol EventStore: Sendable {
    /// An app's events behind a position, in order.
    func events(app: String, after position: Int64, limit: Int) async throws(ServiceError) -> [ServiceEvent]

    /// Events of all apps behind a position, in order.
    func events(after position: Int64, limit: Int) async throws(ServiceError) -> [ServiceEvent]

    /// The position behind which everything lies that happened at or after a time.
    func eventPosition(before date: Date) async throws(ServiceError) -> Int64

    /// The position of the latest event of all, and that behind which events are still kept.
    func eventBounds() async throws(ServiceError) -> EventBounds
}

/// Which events are there.
package struct EventBounds: Sendable, Equatable {
    /// Positions up to this one may have been forgotten; zero when none was.
    package let forgotten: Int64
    /// The latest position; `forgotten` when there is no event.
    package let latest: Int64

    package init(forgotten: Int64, latest: Int64) {
        self.forgotten = forgotten
        self.latest = latest
    }
}
