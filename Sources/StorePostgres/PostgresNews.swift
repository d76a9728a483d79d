import Domain
import Postgres
import StoreSQL

/// What copies of the daemon tell each other through the database: the channels, and what their messages mean.
enum PostgresNews {
    /// Told of each commit that kept events.
    private static let events = "purser_events"
    /// Told of what another copy acts upon (`tellingOfWork`).
    private static let work = "purser_work"

    /// What a store listens to.
    static let channels = [events, work]

    /// Passes on what a listener was told.
    ///
    /// - Parameters:
    ///   - event: what the listener was told.
    ///   - changes: whoever waits for events.
    ///   - feed: whoever acts upon what other copies do.
    static func pass(_ event: PostgresListener.Event, to changes: ChangeSignal, _ feed: CopyNewsFeed) {
        switch event {
        // What was told while nobody listened is looked for once somebody does.
        case .listening:
            changes.send()
            feed.tell(.unknown)
        case .notified(let notification) where notification.channel == events: changes.send()
        case .notified(let notification): feed.tell(news(notification.payload))
        case .lost: break
        }
    }

    /// What a message of a trigger means; of a newer version's it is not known.
    private static func news(_ message: String) -> CopyNews {
        let words = message.split(separator: " ", maxSplits: 1).map(String.init)
        let subject = words.count == 2 ? words[1] : nil
        return switch (words.first, subject) {
        case ("queued", nil): .deliveryQueued
        case ("ended", let id?): .deliveryEnded(deliveryID: id)
        case ("end", let id?): .endAskedFor(deliveryID: id)
        case ("notification", nil): .notificationRecorded
        case ("callback", let id?): .callbackChanged(id: id)
        case ("hold", nil): .holdChanged
        default: .unknown
        }
    }
}
