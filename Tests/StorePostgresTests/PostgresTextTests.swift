import StoreSQL
import Testing

@testable import StorePostgres

struct PostgresTextTests {
    @Test(
        "What SQLite is asked is said in PostgreSQL's words",
        arguments: [
            ("SELECT a FROM t WHERE b = ? AND c IN (?, ?)", "SELECT a FROM t WHERE b = $1 AND c IN ($2, $3)"),
            ("WHERE b = ?2 AND c = ?1", "WHERE b = $2 AND c = $1"),
            ("WHERE user = ? AND users.user IS NULL", "WHERE \"user\" = $1 AND users.\"user\" IS NULL"),
            ("WHERE a IS ? OR b IS NOT NULL", "WHERE a IS NOT DISTINCT FROM $1 OR b IS NOT NULL"),
            ("WHERE a IS NOT b.c AND d IS b.e", "WHERE a IS DISTINCT FROM b.c AND d IS NOT DISTINCT FROM b.e"),
            ("WHERE +a = ? AND b + 1 > 0 AND (+c IS NULL)", "WHERE a = $1 AND b + 1 > 0 AND (c IS NULL)"),
            ("UPDATE t SET a = max(a, ?), b = min(b, c)", "UPDATE t SET a = greatest(a, $1), b = least(b, c)"),
            ("SELECT max(a), min(b) FROM t", "SELECT max(a), min(b) FROM t"),
            ("SET a = iif(b IS NULL, ?1, 0)", "SET a = CASE WHEN b IS NULL THEN  $1 ELSE  0 END"),
            ("WHERE hash > x'0aff'", "WHERE hash > '\\x0aff'::bytea"),
            ("CAST(json(CAST(a AS TEXT)) AS BLOB)", "convert_to(json(convert_from(a, 'UTF8')), 'UTF8')"),
            ("CAST(a AS INTEGER)", "CAST(a AS INTEGER)"),
            ("FROM t INDEXED BY i WHERE a > 0", "FROM t  WHERE a > 0"),
            ("FROM a CROSS JOIN b USING (c)", "FROM a JOIN b USING (c)"),
            ("WHERE rowid IN (SELECT rowid FROM t)", "WHERE ctid IN (SELECT ctid FROM t)"),
            ("SELECT 'user ? IS x' AS \"group\" -- why ?\nFROM t", "SELECT 'user ? IS x' AS \"group\" \nFROM t"),
        ])
    func translation(sql: String, expected: String) { #expect(PostgresText(sql).text == expected) }

    @Test func `named arguments stand where their names do`() {
        let text = PostgresText("UPDATE t SET a = :a, b = :b WHERE id = :id AND a <> :a")
        #expect(text.text == "UPDATE t SET a = $1, b = $2 WHERE id = $3 AND a <> $1")
        #expect(text.values(["id": "x", "b": nil, "a": 1]) == [.integer(1), .null, .text("x")])
    }

    @Test func `arguments within a call count on`() {
        #expect(
            PostgresText("SET a = ?, b = min(coalesce(c, ?), ?) WHERE d = ?").text
                == "SET a = $1, b = least(coalesce(c, $2), $3) WHERE d = $4")
    }
}
