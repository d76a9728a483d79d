import Domain
import Synchronization

/// The notifications that were recorded a moment ago, so that who applies them need not read them back.
///
/// Which notifications are to be applied, and in which order, the tables alone say; this only saves reading their content.
/// Each is handed over once: who asks again, as after a failure, reads it.
package final class FreshNotifications: Sendable {
    /// How many are kept at most, some kilobytes each; the oldest make way.
    static let limit = 128

    private struct State {
        var contents: [NotificationKey: StoredNotification] = [:]
        /// In the order in which they came, with what has been handed over since.
        var order: [NotificationKey] = []
        var erasures = 0
        /// How many erasures of all copies this one has taken note of; nil before the first question.
        var erasuresOfAll: Int64?
    }

    private let state = Mutex(State())

    package init() {}

    /// How many erasures there have been; to be asked in the writer's turn.
    var erasures: Int { state.withLock(\.erasures) }

    /// Takes note of how many erasures all copies of the daemon have made; forgets everything if it is another number than before.
    ///
    /// - Returns: whether it is the same number.
    func isUpToDate(withErasuresOfAll count: Int64) -> Bool {
        let isSame = state.withLock { state in
            defer { state.erasuresOfAll = count }
            return state.erasuresOfAll == count
        }
        if !isSame { forget() }
        return isSame
    }

    /// Keeps what a transaction has recorded that is committed now, unless something was erased since.
    ///
    /// - Parameters:
    ///   - notification: as it was recorded.
    ///   - erasures: what they were when it was.
    func keep(_ notification: StoredNotification, recordedAfter erasures: Int) {
        guard notification.isReadAsItIs else { return }
        let key = notification.key
        state.withLock { state in
            guard state.erasures == erasures else { return }
            if state.contents.updateValue(notification, forKey: key) == nil { state.order.append(key) }
            guard state.order.count > Self.limit else { return }
            state.contents[state.order.removeFirst()] = nil
        }
    }

    /// Hands a notification over that is still to be applied.
    ///
    /// - Returns: nil when it must be read.
    func take(_ key: NotificationKey) -> StoredNotification? {
        state.withLock { $0.contents.removeValue(forKey: key) }
    }

    /// Forgets all of them, because rows are changed of which nothing may be left; to be called in the writer's turn.
    func forget() {
        state.withLock { state in
            state.contents = [:]
            state.order = []
            state.erasures += 1
        }
    }
}

extension StoredNotification {
    /// Whether reading it from its tables gives the same: they have one column for the Apple Account of a notification and of
    /// its transaction, whole milliseconds, and neither a user nor an end of what is just recorded.
    fileprivate var isReadAsItIs: Bool {
        guard user == nil, processedAt == nil, receivedAt.roundedToMilliseconds == receivedAt else { return false }
        guard let transaction = notification.transaction else { return true }
        let dates = [
            transaction.purchaseDate, transaction.expiresDate, transaction.signedDate, transaction.revocationDate,
        ]
        return transaction.appTransactionID == notification.appTransactionID
            && dates.allSatisfy { $0?.roundedToMilliseconds == $0 }
    }
}
