/// The database, chosen by the prefix of its location.
package enum StoreLocation: Sendable, Equatable {
    /// An SQLite database in a file, by absolute path; written `sqlite:/var/lib/purser/purser.db`.
    case sqlite(path: String)
}
