import Domain
import GRDB

/// Sends the signal after each commit that kept events.
///
/// SQLite itself says which rows a transaction inserts, so that no operation can forget to.
///
/// `@unchecked Sendable`: GRDB calls it on the serial queue of the writer only, which guards `hasEvents`.
final class EventObserver: TransactionObserver, @unchecked Sendable {
    private let changes: ChangeSignal
    private var hasEvents = false

    init(changes: ChangeSignal) { self.changes = changes }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        if case .insert(let table) = eventKind { table == "event" } else { false }
    }

    func databaseDidChange(with event: DatabaseEvent) {
        hasEvents = true
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidCommit(_ database: Database) {
        if hasEvents { changes.send() }
        hasEvents = false
    }

    func databaseDidRollback(_ database: Database) { hasEvents = false }
}
