/// Reads the named values of a request one by one and keeps every rule that one of them breaks, so that the caller learns of
/// all of them at once.
///
/// What has been read by the end is what the request knows: any other query parameter or field of the body is refused. A
/// reading that breaks a rule gives nothing, or what means nothing; whoever has read everything asks `isValid`, and throws
/// `error` where it is not.
package struct FieldReader: Sendable {
    /// Where a value stands in a request.
    package enum Position: Sendable {
        case path, query, header, body
    }

    package typealias Parameters = [(name: String, value: String)]

    /// What is wrong with a field of the body that nobody has read, after its name.
    package var unknownFieldProblem = "is not a field of this request; remove it"
    /// What is wrong with a missing value, after its name and before what it must be.
    package var missingFieldProblem = "is required"

    private let path: Parameters
    private let query: Parameters
    private let headers: Parameters
    /// What is left to be read.
    private var body: [String: FieldValue]
    /// What stands before the name of a field in a violation.
    private let prefix: String
    /// The query parameters that have been asked for; none is noted where there is no query.
    private var knownParameters: Set<String> = []
    /// How many rules had been found broken when the query was first asked; what it holds besides is told there.
    private var queryStart: Int?
    private var takesUnknown = false
    private var takesNulls = false
    private var takesTexts = false
    private var violations: [Violation] = []
    /// The first failure of a check that is no broken rule of a field.
    private var refusal: ServiceError?

    /// - Parameters:
    ///   - path: the path's parameters, each once.
    ///   - query: the query's, in the order given; one may be given several times.
    ///   - headers: those that the request knows; one may be given several times.
    ///   - body: the body's fields by name.
    ///   - prefix: what stands before the name of a field of the body in a violation, such as `appleV1.`.
    package init(
        path: Parameters = [], query: Parameters = [], headers: Parameters = [], body: [String: FieldValue] = [:],
        prefix: String = ""
    ) {
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.prefix = prefix
    }

    /// Reads one thing out of a body that holds nothing else.
    ///
    /// - Throws: `invalidRequest` with every violation.
    package static func read<Value>(
        _ body: [String: FieldValue], prefix: String = "", as read: (inout FieldReader) -> Value?
    ) throws(ServiceError) -> Value {
        var fields = FieldReader(body: body, prefix: prefix)
        let value = read(&fields)
        guard fields.isValid, let value else { throw fields.error }
        return value
    }
}

// MARK: The end

extension FieldReader {
    /// Whether what has been read so far breaks no rule, whatever else the request may hold.
    package var isValidSoFar: Bool { violations.isEmpty && refusal == nil }

    /// Whether the request breaks no rule and holds nothing but what has been read.
    package var isValid: Bool {
        isValidSoFar
            && (takesUnknown || (body.isEmpty && query.allSatisfy { knownParameters.contains($0.name) }))
    }

    /// Ends the reading of a request that needs nothing.
    ///
    /// - Throws: `invalidRequest` with every violation, or the one failure of another kind.
    package func finish() throws(ServiceError) {
        guard isValid else { throw error }
    }

    /// What to tell the caller of a request that is not valid.
    package var error: ServiceError {
        var all = violations
        if !takesUnknown {
            all.insert(contentsOf: unknownParameters, at: queryStart ?? 0)
            all += unknownFields
        }
        guard let refusal else {
            return all.isEmpty
                ? ServiceError(.internalError, "Internal error.", cause: "a value is missing that no rule needs")
                : .invalid(all)
        }
        guard !all.isEmpty else { return refusal }
        let field = refusal.reason == .environmentNotAllowed ? "environment" : "request"
        return .invalid(all + [Violation(field: field, rule: refusal.reason.rawValue, message: refusal.message)])
    }

    /// Lets everything pass that nobody reads.
    package mutating func ignoreUnknown() {
        takesUnknown = true
    }

    /// Lets a field of the body, or of what it holds, that is null count as one that is not there.
    package mutating func ignoreNulls() {
        takesNulls = true
        body = body.filter { $0.value != .null }
    }

    /// Lets a text of the body, or of what it holds, stand for the number, `true` or `false` that it spells, as in a file whose
    /// values are all texts.
    package mutating func takeTexts() { takesTexts = true }

    /// Whether a text at a position stands for what it spells.
    func spells(_ position: Position) -> Bool { position != .body || takesTexts }

    /// A reader of what a field of the body holds, by the same rules.
    func reader(of members: [String: FieldValue], prefix: String) -> FieldReader {
        var fields = FieldReader(body: members, prefix: prefix)
        if takesNulls { fields.ignoreNulls() }
        fields.takesTexts = takesTexts
        return fields
    }

    private var unknownParameters: [Violation] {
        let known = knownParameters.isEmpty ? "" : "; it knows \(knownParameters.sorted().joined(separator: ", "))"
        return Set(query.map(\.name)).subtracting(knownParameters).sorted().map {
            Violation(field: $0, rule: "unknownParameter", message: "`\($0)` is not a parameter of this route\(known).")
        }
    }

    private var unknownFields: [Violation] {
        body.keys.sorted().prefix(ServiceError.maximumViolations).map {
            Violation(
                field: prefix + $0, rule: "unknownField", message: "`\(prefix)\($0)` \(unknownFieldProblem).")
        }
    }
}

// MARK: Rules of more than one value

extension FieldReader {
    /// Notes a broken rule.
    package mutating func note(_ name: String, _ rule: String, _ message: String, _ error: AppleErrorName? = nil) {
        note([Violation(field: prefix + name, rule: rule, message: message, appleError: error)])
    }

    /// Notes what was found elsewhere.
    package mutating func note(_ found: [Violation]) {
        // A request may break rules as often as it has fields; nobody reads all of that.
        violations += found.prefix(max(0, ServiceError.maximumViolations - violations.count))
    }

    /// Runs a check and keeps what it throws.
    ///
    /// - Returns: what the check returns; nil when it failed.
    package mutating func check<Value>(_ check: () throws(ServiceError) -> Value) -> Value? {
        do throws(ServiceError) {
            return try check()
        } catch {
            if error.violations.isEmpty { refusal = refusal ?? error } else { note(error.violations) }
            return nil
        }
    }

    /// The name of a field of the body as the caller would write it.
    func qualified(_ name: String) -> String { prefix + name }

    /// The names of the fields that have not been read yet, in ascending order.
    var names: [String] { body.keys.sorted() }

    /// Whether the body has a field that has not been read yet.
    package func holds(_ name: String) -> Bool { body[name] != nil }

    /// A field of the body that has not been read yet, left to be read.
    func peek(_ name: String) -> FieldValue? { body[name] }

    /// Notes a field of the body that must not be given here, if it is.
    package mutating func forbid(_ name: String, _ rule: String, _ message: String) {
        if body.removeValue(forKey: name) != nil { note(name, rule, message) }
    }

    /// Takes the named fields out of the body unchecked.
    package mutating func takeAll(_ names: Set<String>) -> [String: FieldValue] {
        let taken = body.filter { names.contains($0.key) }
        for name in taken.keys { body[name] = nil }
        return taken
    }
}

// MARK: Where values come from

extension FieldReader {
    /// All values of a query parameter that may be repeated, in the order given.
    package mutating func values(_ name: String) -> [String] {
        know(name)
        return query.isEmpty ? [] : query.filter { $0.name == name }.map(\.value)
    }

    /// The one value of a name; nil, and noted, when it is missing or given several times.
    mutating func take(
        _ name: String, _ position: Position, isRequired: Bool, _ expected: () -> String, _ error: AppleErrorName?
    ) -> FieldValue? {
        var found: FieldValue?
        switch position {
        case .body: found = body.removeValue(forKey: name)
        case .path:
            found = path.first { $0.name == name }.map { .string($0.value) }
            if found == nil {
                refusal =
                    refusal ?? ServiceError(.internalError, "Internal error.", cause: "route without parameter \(name)")
                return nil
            }
        case .query, .header:
            if position == .query { know(name) }
            var count = 0
            for parameter in position == .query ? query : headers where parameter.name == name {
                count += 1
                if count == 1 { found = .string(parameter.value) }
            }
            guard count <= 1 else {
                note(name, "repeated", "`\(name)` may be given once; it is given \(count) times.")
                return nil
            }
        }
        if found == nil, isRequired {
            note(name, "required", "`\(qualified(name))` \(missingFieldProblem): \(expected()).", error)
        }
        return found
    }

    private mutating func know(_ name: String) {
        queryStart = queryStart ?? violations.count
        if !query.isEmpty { knownParameters.insert(name) }
    }
}
