import Foundation
import Synchronization

/// Keeps lists that were too long for one answer, so that every page shows the same state.
///
/// Bounded in time (a lifetime from the first page on) and in bytes: when a new list does not fit, the oldest ones go.
/// Purpose: stable paging of user lists. Key: a random id. A lost entry is a 410, never a wrong answer.
package final class SnapshotCache: Sendable {
    private struct Entry {
        let app: String
        let list: UserPurchases
        let expires: ContinuousClock.Instant
        let bytes: Int
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// Ids in the order of their creation, which is also that of their expiry.
        var order: [String] = []
        var bytes = 0
    }

    private let lifetime: Duration
    private let maximumBytes: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    package init(
        lifetime: Duration, maximumBytes: Int,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.lifetime = lifetime
        self.maximumBytes = maximumBytes
        self.now = now
    }

    /// Keeps a list of an app's user under an id that nobody else uses.
    ///
    /// - Throws: `payloadTooLarge` when the list alone exceeds the cache.
    func insert(_ list: UserPurchases, id: String, app: String) throws(ServiceError) {
        let bytes = list.transactions.reduce(0) { $0 + $1.payload.count + $1.signed.utf8.count }
        guard bytes <= maximumBytes else {
            throw ServiceError(
                .payloadTooLarge,
                "This list is too large to be paged here; narrow it with filters, or read it by transaction id.")
        }
        let instant = now()
        state.withLock { state in
            Self.drop(from: &state) { entry, _ in entry.expires <= instant }
            Self.drop(from: &state) { [maximumBytes] _, held in held + bytes > maximumBytes }
            state.entries[id] = Entry(app: app, list: list, expires: instant + lifetime, bytes: bytes)
            state.order.append(id)
            state.bytes += bytes
        }
    }

    /// The list kept under an id; nil when it is gone.
    func list(id: String) -> UserPurchases? {
        let instant = now()
        return state.withLock { state in
            guard let entry = state.entries[id], entry.expires > instant else { return nil }
            return entry.list
        }
    }

    /// Drops every list of an app, because Apple has said that what they show has changed.
    func drop(app: String) {
        state.withLock { state in
            for (id, entry) in state.entries where entry.app == app {
                state.entries[id] = nil
                state.bytes -= entry.bytes
            }
            state.order.removeAll { state.entries[$0] == nil }
        }
    }

    /// Drops the oldest entries as long as a condition holds for them.
    private static func drop(from state: inout State, while condition: (_ entry: Entry, _ bytesHeld: Int) -> Bool) {
        var dropped = 0
        for id in state.order {
            guard let entry = state.entries[id], condition(entry, state.bytes) else { break }
            state.entries[id] = nil
            state.bytes -= entry.bytes
            dropped += 1
        }
        state.order.removeFirst(dropped)
    }
}
