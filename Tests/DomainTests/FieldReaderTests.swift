import Domain
import Testing

/// The reader of every request: what each kind of value may be, and that nothing broken goes untold.
struct FieldReaderTests {
    /// The rules that a reading breaks, in the order told, each as `field rule`.
    private func rules(_ fields: FieldReader) -> [String] {
        fields.isValid ? [] : fields.error.violations.map { "\($0.field) \($0.rule)" }
    }

    @Test func `values of every place are read, and whoever breaks no rule gets them`() throws {
        var fields = FieldReader(
            path: [("id", "7")], query: [("limit", "5"), ("tag", "a"), ("tag", "b"), ("deep", "true")],
            headers: [("Key", "k")], body: ["name": .string("x"), "on": .boolean(false), "count": .integer(3)])
        #expect(fields.identifier("id", .transaction, in: .path) == "7")
        #expect(fields.integer("limit", in: .query, from: 1...10) == 5)
        #expect(fields.values("tag") == ["a", "b"])
        #expect(fields.boolean("deep", in: .query) == true)
        #expect(fields.text("Key", in: .header) == "k")
        #expect(fields.text("name", bytes: 1...3) == "x")
        #expect(fields.boolean("on") == false)
        #expect(fields.integer("count", from: 0...Int32(3)) == 3)
        #expect(fields.isValid)
        try fields.finish()
    }

    @Test func `every broken rule of path, query, header and body is told in one error`() {
        var fields = FieldReader(
            path: [("id", "a b")], query: [("limit", "11"), ("deep", "yes"), ("sort", "up"), ("sort", "down")],
            headers: [("Key", "k"), ("Key", "l")],
            body: ["name": .string(""), "on": .string("true"), "count": .integer(9), "list": .array([.null])])
        #expect(fields.identifier("id", .transaction, in: .path) == nil)
        #expect(fields.integer("limit", in: .query, from: 1...10) == nil)
        #expect(fields.boolean("deep", in: .query) == nil)
        #expect(fields.text("sort", in: .query) == nil)
        #expect(fields.text("Key", in: .header) == nil)
        #expect(fields.text("name", bytes: 1...3) == nil)
        #expect(fields.boolean("on") == nil)
        #expect(fields.integer("count", from: 0...3) == nil)
        #expect(fields.text("missing", isRequired: true) == nil)
        _ = fields.array("list", expected: "a list")
        #expect(!fields.isValidSoFar)
        #expect(
            rules(fields) == [
                "id format", "limit range", "deep type", "sort repeated", "Key repeated", "name length", "on type",
                "count range", "missing required",
            ])
        #expect(fields.error.reason == .invalidRequest)
    }

    @Test(
        arguments: [
            (.number(1e23), "range", "`n` must be an integer from 0 to 5."),
            (.number(-.infinity), "range", "`n` must be an integer from 0 to 5."),
            (.number(0.5), "type", "`n` must be an integer from 0 to 5, not a number with a fraction."),
            (.string("1"), "type", "`n` must be an integer from 0 to 5, not a string."),
        ] as [(FieldValue, String, String)])
    func `a whole number beyond all bounds is out of range, not of another type`(
        value: FieldValue, rule: String, message: String
    ) {
        var fields = FieldReader(body: ["n": value])
        #expect(fields.integer("n", from: 0...5) == nil)
        #expect(rules(fields) == ["n \(rule)"])
        #expect(fields.error.violations.first?.message == message)
    }

    @Test func `what nobody reads is refused, the query's before what is wrong with the rest of it`() {
        var fields = FieldReader(
            path: [("id", "a b")], query: [("limit", "x"), ("colour", "red"), ("colour", "blue")],
            body: ["note": .null, "more": .null])
        _ = fields.identifier("id", .transaction, in: .path)
        _ = fields.integer("limit", in: .query, from: 1...10)
        #expect(
            rules(fields) == [
                "id format", "colour unknownParameter", "limit range", "more unknownField", "note unknownField",
            ])
        #expect(
            fields.error.violations[1].message == "`colour` is not a parameter of this route; it knows limit.")
        #expect(rules(FieldReader(query: [("x", "")])) == ["x unknownParameter"])
        var open = FieldReader(query: [("x", "")], body: ["y": .null])
        open.ignoreUnknown()
        #expect(open.isValid)
    }

    @Test func `a value that may be missing is read as none, and one that may not is told with Apple's error`() {
        var fields = FieldReader()
        #expect(fields.text("a", bytes: 1...2) == nil)
        #expect(fields.text("b", isRequired: false, bytes: 1...2) == nil)
        #expect(fields.boolean("c", in: .query, AppleErrorName("CError", 1)) == nil)
        #expect(fields.integer("d", in: .query, from: 0...1, isRequired: false) == nil)
        #expect(rules(fields) == ["a required", "c required"])
        #expect(fields.error.violations[1].appleError == AppleErrorName("CError", 1))
    }

    @Test func `an object has a reader of its own, and its violations name it`() {
        var fields = FieldReader(body: ["inner": .object(["n": .integer(9), "x": .null]), "flat": .array([])])
        let inner = fields.object("inner", expected: "an object") { $0.integer("n", from: 0...5) }
        #expect(inner == nil)
        #expect(fields.object("flat", expected: "an object") { $0.boolean("n") } == nil)
        #expect(rules(fields) == ["inner.n range", "inner.x unknownField", "flat type"])
    }

    @Test func `checks that fail are told together, whatever kind they are`() throws {
        var fields = FieldReader()
        let refused = ServiceError(.environmentNotAllowed, "not here")
        #expect(fields.check { () throws(ServiceError) in 7 } == 7)
        _ = fields.check { () throws(ServiceError) in try AppleIdentifier.transaction.check("", field: "a") }
        _ = fields.check { () throws(ServiceError) in throw refused }
        _ = fields.check { () throws(ServiceError) in try AppleIdentifier.product.check("", field: "b") }
        #expect(fields.error.reason == .invalidRequest)
        #expect(rules(fields) == ["a format", "b format", "environment environment-not-allowed"])
        var alone = FieldReader()
        _ = alone.check { () throws(ServiceError) in throw refused }
        #expect(throws: refused) { try alone.finish() }
    }
}
