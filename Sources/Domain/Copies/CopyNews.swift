import Synchronization

/// What a copy of the daemon has done with the store and another one acts upon.
///
/// It is told in the transaction that does it. That nobody hears of it costs the time until somebody looks for itself, and nothing
/// else (``CopyExchange``).
package enum CopyNews: Sendable, Hashable {
    /// A delivery may be claimed.
    case deliveryQueued
    /// Nobody may send a delivery any more that somebody is sending.
    case endAskedFor(deliveryID: String)
    /// A delivery has ended.
    case deliveryEnded(deliveryID: String)
    /// A notification is to be applied.
    case notificationRecorded
    /// A callback came, went or was changed.
    case callbackChanged(id: String)
    /// Sending is held, or held no more.
    case holdChanged
    /// Nobody knows what there was meanwhile.
    case unknown
}

/// Hands news to all who listen; for stores.
package final class CopyNewsFeed: Sendable {
    /// Whoever is so far behind finds the rest by looking.
    private static let maximumUnheard = 10_000

    private let listeners = Mutex<(next: Int, all: [Int: AsyncStream<CopyNews>.Continuation])>((0, [:]))

    package init() {}

    /// Tells everyone who listens.
    package func tell(_ news: CopyNews) {
        for listener in listeners.withLock({ Array($0.all.values) }) { listener.yield(news) }
    }

    /// What is told from now on; ends with the task that listens.
    package func listen() -> AsyncStream<CopyNews> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CopyNews.self, bufferingPolicy: .bufferingOldest(Self.maximumUnheard))
        let number = listeners.withLock { state in
            state.next += 1
            state.all[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.all.removeValue(forKey: number) }
        }
        return stream
    }
}
