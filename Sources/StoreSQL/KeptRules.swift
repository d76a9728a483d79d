/// What our own tables must keep to, whatever engine keeps them.
package enum KeptRules {
    /// What is wrong, one sentence each; empty when nothing is.
    package static func violations(in database: SQLDatabase) throws -> [String] {
        var faults: [String] = []
        for rule in rules {
            let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(rule.violations)") ?? 0
            if count > 0 { faults.append("\(count) × \(rule.fault).") }
        }
        let latest = try database.lastPosition(of: "event")
        let behind =
            try Int.fetchOne(
                database, sql: "SELECT count(*) FROM event WHERE position > ?", arguments: [latest]) ?? 0
        if behind > 0 { faults.append("\(behind) × an event behind the latest position.") }
        return faults
    }

    /// What must not be found: rows, and what they are.
    private static let rules: [(violations: String, fault: String)] = [
        (
            "refundCase WHERE NOT EXISTS (SELECT 1 FROM caseRequest WHERE caseId = refundCase.id)",
            "a case without a request"
        ),
        (
            "refundCase WHERE (state = 'decided') <> (outcome IS NOT NULL AND decidedAt IS NOT NULL)",
            "a case whose state and outcome disagree"
        ),
        ("refundCase WHERE (state = 'open') <> (closedAt IS NULL)", "a case whose state and end disagree"),
        (
            "refundCase WHERE state = 'declined' AND (declineCaller IS NULL OR declineAt IS NULL)",
            "a declined case without its decline"
        ),
        (
            "delivery WHERE (state = 'sending') <> (worker IS NOT NULL AND claimedAt IS NOT NULL AND leaseUntil IS NOT NULL)",
            "a delivery whose state and claim disagree"
        ),
        (
            "delivery WHERE (state NOT IN ('queued', 'sending')) <> (endedAt IS NOT NULL)",
            "a delivery whose state and end disagree"
        ),
        (
            "delivery WHERE (state = 'queued') <> (isReady IS NOT NULL)",
            "a delivery whose state and next attempt disagree"
        ),
        (
            """
            (SELECT 1 FROM (
                SELECT app, state, count FROM deliveryCount
                UNION ALL SELECT app, state, -count(*) FROM delivery WHERE endedAt IS NULL GROUP BY app, state) AS counted
            GROUP BY app, state HAVING sum(count) <> 0) AS wrong
            """,
            "a count of deliveries under way that is wrong"
        ),
        (
            "notification WHERE NOT EXISTS (SELECT 1 FROM notificationContent AS c WHERE c.position = notification.position)",
            "a notification without its content"
        ),
    ]
}
