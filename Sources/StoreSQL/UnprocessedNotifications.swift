import Domain

/// Finds the notifications that are applied next, so that the apps that have any take turns: however many one app has, the
/// next of every other is among the first.
struct UnprocessedNotifications {
    /// Where a notification stands.
    struct Place {
        let position: Int64
        let key: NotificationKey
    }

    /// What an app has to be applied, as far as it was looked for.
    private struct Line {
        let app: String
        /// In the order in which they were recorded.
        var places: [Place]
        var isComplete = false
    }

    private let leftOut: Set<NotificationKey>
    private let nextApp: SQLStatement
    private let ofApp: SQLStatement

    /// `leftOut`: what is not looked for.
    init(leavingOut leftOut: Set<NotificationKey>, in database: SQLDatabase) throws {
        self.leftOut = leftOut
        // Other indexes begin with the app too, but hold everything that was ever kept.
        nextApp = try database.cachedStatement(
            sql: """
                SELECT app FROM notification INDEXED BY notificationUnprocessed
                WHERE processedAt IS NULL AND app > ? ORDER BY app LIMIT 1
                """)
        ofApp = try database.cachedStatement(
            sql: """
                SELECT position, uuid FROM notification INDEXED BY notificationUnprocessed
                WHERE processedAt IS NULL AND app = ? AND position > ? ORDER BY position
                """)
    }

    /// Where at most `limit` notifications stand: the first of each app, the second of each, and so on.
    ///
    /// `app`: where the turns begin, behind it; the apps before come after the last.
    func places(limit: Int, behind app: String) throws -> [Place] {
        var lines = try heads(limit: limit, behind: app)
        var left = limit - lines.count
        while left > 0 {
            let open = lines.indices.filter { !lines[$0].isComplete }
            guard !open.isEmpty else { break }
            let share = max(1, left / open.count)
            for index in open.prefix(left) {
                let last = lines[index].places.last?.position ?? 0
                let more = try places(of: lines[index].app, after: last, count: share)
                lines[index].places += more
                lines[index].isComplete = more.count < share
                left -= more.count
            }
        }
        let longest = lines.map(\.places.count).max() ?? 0
        return (0..<longest).flatMap { turn in
            lines.compactMap { turn < $0.places.count ? $0.places[turn] : nil }
        }
    }

    /// The first notification of each app that has any, of so many apps.
    private func heads(limit: Int, behind start: String) throws -> [Line] {
        var lines: [Line] = []
        // Those behind the start, then those up to it.
        for (start, end) in [(start, nil), ("", start)] where start != end {
            var last = start
            while lines.count < limit, let app = try String.fetchOne(nextApp, arguments: [last]) {
                if let end, app > end { break }
                let places = try places(of: app, after: 0, count: 1)
                if !places.isEmpty { lines.append(Line(app: app, places: places)) }
                last = app
            }
        }
        return lines
    }

    private func places(of app: String, after position: Int64, count: Int) throws -> [Place] {
        var found: [Place] = []
        let rows = try SQLRow.fetchCursor(ofApp, arguments: [app, position])
        while found.count < count, let row = try rows.next() {
            let key = NotificationKey(app: app, notificationUUID: try row.value("uuid"))
            if !leftOut.contains(key) { found.append(Place(position: try row.value("position"), key: key)) }
        }
        return found
    }
}
