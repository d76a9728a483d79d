package import Foundation

/// The database that the release before has left: `Tests/StoreSQLiteTests/Resources/release-0006.sql`, which says who is in it.
package enum ReleaseBefore {
    /// When everybody waits: after erin's next attempt is due and jack's claim has run out, long before any deadline.
    package static let now = Date(timeIntervalSince1970: 1_795_347_800)
    /// The latest position of its events, which knew no epochs.
    package static let latestEvent = 50
    /// The deliveries that are still to be sent.
    package static let queued = [
        "erin": "01a2030f-5f6d-70d9-95ce-4991ba0d295a", "jack": "01a20310-6289-78d2-a736-c04a92753457",
    ]
    /// What each user bought.
    package static let transactions = [
        "adam": "433162444102915", "alice": "433162444007201", "bob": "2000000204946085",
        "carol": "433162444200019", "dave": "433162444224576", "erin": "2000000204946235",
        "frank": "433162444442589", "gina": "433162444315641", "henry": "2000000204946162",
        "ida": "433162444535666", "jack": "433162444626594", "leo": "433162444397018",
        "mia": "433162444712043",
    ]

    /// The statements that make it, to be run outside of a transaction.
    package static func statements() throws -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try String(
            contentsOf: tests.appending(path: "StoreSQLiteTests/Resources/release-0006.sql"), encoding: .utf8)
    }
}
