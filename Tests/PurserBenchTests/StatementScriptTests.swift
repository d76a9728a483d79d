import Testing

@testable import purser_bench

/// What pgbench is given to run.
struct StatementScriptTests {
    private static let log = """
        3/21 LOG:  statement: BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY
        3/21 LOG:  execute s4: SELECT * FROM refundCase WHERE app = $1
        \tAND transactionId = $2 ORDER BY id
        3/21 DETAIL:  parameters: $1 = 'a''0', $2 = '5900000000000000'
        4/7 LOG:  statement: BEGIN; SELECT pg_advisory_xact_lock(1, 2)
        3/21 LOG:  statement: COMMIT
        4/7 LOG:  execute s9: INSERT INTO delivery (id, body, caseId) VALUES ($1, $2, $3)
        4/7 DETAIL:  parameters: $1 = '01a214e6-1f37-7b87-af01-d541ddac8eeb', $2 = '\\x7b7d', $3 = NULL
        4/7 LOG:  execute s10: INSERT INTO event (transactionId) VALUES ($1)
        4/7 DETAIL:  parameters: $1 = '5900000000000000'
        4/7 LOG:  statement: UPDATE writer SET turns = turns + 1; COMMIT
        5/2 LOG:  statement: BEGIN; SELECT pg_advisory_xact_lock(1, 2)
        5/2 LOG:  execute s11: DELETE FROM copy WHERE livesUntil < $1
        5/2 DETAIL:  parameters: $1 = '17'
        5/2 LOG:  statement: COMMIT
        4/8 LOG:  statement: BEGIN; SELECT pg_advisory_xact_lock(1, 2)
        4/8 LOG:  execute s12: UPDATE delivery SET state = 'sending' WHERE id = $1
        4/8 DETAIL:  parameters: $1 = '01a214e6-1f37-7b87-af01-d541ddac8eeb'
        4/8 LOG:  statement: COMMIT
        LOG:  checkpoint starting: time
        \tand so on
        """

    @Test func `it has the transactions that are about one thing, in their order, and no others`() {
        let found = StatementScript.transactions(in: Self.log, about: ["'5900000000000000'"])
        #expect(found.map(\.statements.count) == [3, 4, 3])
        #expect(found[0].statements[1].values == ["'a''0'", "'5900000000000000'"])
        #expect(found[0].statements[1].text.hasSuffix("\nAND transactionId = $2 ORDER BY id"))
    }

    @Test func `what must differ is made anew each time, and the rest stays`() {
        let found = StatementScript.transactions(in: Self.log, about: ["'5900000000000000'"])
        let lines = StatementScript(found, marker: "'5900000000000000'").text.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(10) == [
                "\\set n random(1, 999999999999)",
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;",
                "SELECT * FROM refundCase WHERE app = 'a''0' AND transactionId = ('5' || lpad((:n)::text, 15, '0')) ORDER BY id;",
                "COMMIT;",
                "\\startpipeline", "BEGIN;", "SELECT pg_advisory_xact_lock(1, 2);", "\\endpipeline",
                "INSERT INTO delivery (id, body, caseId) VALUES (('01a214e6-1f37-7b87-af01-' || lpad((:n)::text, 12, '0')), '\\x7b7d', NULL);",
                "INSERT INTO event (transactionId) VALUES (('5' || lpad((:n)::text, 15, '0')));",
            ])
        #expect(lines.suffix(3).first == "\\endpipeline")
    }

    @Test func `the position that a row was given is asked for, and used where it was`() {
        let log = """
            1/1 LOG:  statement: BEGIN
            1/1 LOG:  execute s1: INSERT INTO notification (uuid) VALUES ($1)
            1/1 DETAIL:  parameters: $1 = 'u'
            1/1 LOG:  execute s2: SELECT position FROM lastPosition WHERE ofTable = $1
            1/1 DETAIL:  parameters: $1 = 'notification'
            1/1 LOG:  execute s3: INSERT INTO notificationContent (position) VALUES ($1)
            1/1 DETAIL:  parameters: $1 = '770000001'
            """
        let found = StatementScript.transactions(in: log, about: ["'u'"])
        let script = StatementScript(found, marker: "'u'", position: "'770000001'", isCounted: true).text
        #expect(
            script.split(separator: "\n").map(String.init) == [
                "\\set turn :turn + 1", "\\set n :first + :turn * :clients + :client_id", "BEGIN;",
                "INSERT INTO notification (uuid) VALUES (('5' || lpad((:n)::text, 0, '0')));",
                "SELECT position FROM lastPosition WHERE ofTable = 'notification' \\gset",
                "INSERT INTO notificationContent (position) VALUES ((:position)::bigint);",
            ])
    }
}
