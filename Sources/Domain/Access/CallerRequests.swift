/// What an operator asks for when a caller is added.
package struct CallerAddition: Sendable {
    package let name: String
    /// By app slug.
    package let scopes: [String: Set<Scope>]
    package let givesToken: Bool
    /// How long its token is usable; nil for ever.
    package let tokenLifetime: Duration?
    package let bindings: Set<CallerBinding>

    package init(
        name: String, scopes: [String: Set<Scope>], givesToken: Bool = true, tokenLifetime: Duration? = nil,
        bindings: Set<CallerBinding> = []
    ) {
        self.name = name
        self.scopes = scopes
        self.givesToken = givesToken
        self.tokenLifetime = tokenLifetime
        self.bindings = bindings
    }
}

/// What an operator asks for when a caller gets a new token.
package struct CallerRotation: Sendable {
    /// How long the tokens before it stay usable; nil for as long as the configuration says.
    package let grace: Duration?
    /// How long the new one is usable; nil for ever.
    package let lifetime: Duration?

    package init(grace: Duration? = nil, lifetime: Duration? = nil) {
        self.grace = grace
        self.lifetime = lifetime
    }
}

// MARK: Reading

extension CallerAdministration {
    /// How long a token may be usable, and how long one may stay so beside a new one, in seconds.
    private static let lifetimes = 60...(10 * 366 * 86_400)
    private static let graces = 0...(30 * 86_400)

    /// Reads the caller to be added.
    package func addition(_ fields: inout FieldReader) -> CallerAddition? {
        let name = fields.text("name", isRequired: true)
        let scopes = scopesByApp(&fields)
        let bindings = Self.bindings(&fields)
        let givesToken = fields.boolean("token", isRequired: false)
        let lifetime = fields.integer("expiresInSeconds", from: Self.lifetimes, isRequired: false)
        guard let name, let scopes, let bindings else { return nil }
        let addition = CallerAddition(
            name: name, scopes: scopes, givesToken: givesToken ?? bindings.isEmpty,
            tokenLifetime: lifetime.map { .seconds($0) }, bindings: bindings)
        fields.note(violations(addition))
        return addition
    }

    /// Reads what is granted or withdrawn.
    package func grant(_ fields: inout FieldReader) -> (app: String, scopes: Set<Scope>)? {
        let app = fields.text("app", isRequired: true)
        let scopes = Scope.read("scopes", &fields)
        if let app { fields.note(unknownApp(app, field: "app")) }
        guard let app, let scopes else { return nil }
        return (app, scopes)
    }

    /// Reads how a token is to be replaced.
    package func rotation(_ fields: inout FieldReader) -> CallerRotation {
        let grace = fields.integer("graceSeconds", from: Self.graces, isRequired: false)
        let lifetime = fields.integer("expiresInSeconds", from: Self.lifetimes, isRequired: false)
        return CallerRotation(grace: grace.map { .seconds($0) }, lifetime: lifetime.map { .seconds($0) })
    }

    /// Reads a binding out of the path.
    package func binding(_ fields: inout FieldReader) -> CallerBinding? {
        let kind = fields.choice("kind", CallerBinding.Kind.self, in: .path)
        let value = fields.text("value", in: .path)
        guard let kind, let value else { return nil }
        guard let binding = CallerBinding(kind, value) else {
            fields.note("value", "format", Self.rule(of: kind))
            return nil
        }
        return binding
    }

    /// Every broken rule of what can be added.
    func violations(_ addition: CallerAddition) -> [Violation] {
        var violations: [Violation] = []
        if !CallerName.isValid(addition.name) {
            violations.append(Violation(field: "name", rule: "format", message: CallerName.rule))
        }
        for app in addition.scopes.keys.sorted() { violations += unknownApp(app, field: "scopes.\(app)") }
        if addition.bindings.count > StoredCaller.maximumBindings {
            violations.append(
                Violation(
                    field: "certificates", rule: "count",
                    message:
                        "At most \(StoredCaller.maximumBindings) certificates, users and groups stand for one caller."
                ))
        }
        for binding in addition.bindings {
            guard let owner = registry.read({ $0.owner(of: binding) }) else { continue }
            violations.append(
                Violation(
                    field: Self.field(of: binding.kind), rule: "taken",
                    message:
                        "\(binding.kind.rawValue) \(binding.value) stands for the caller `\(owner)`; unbind it there."))
        }
        return violations
    }

    private func unknownApp(_ app: String, field: String) -> [Violation] {
        guard (try? apps.app(app)) == nil else { return [] }
        return [
            Violation(
                field: field, rule: "unknown",
                message: "No app is configured under this name; the configuration's `apps` lists them.")
        ]
    }

    /// `scopes`: an object of apps, each with its scopes.
    private func scopesByApp(_ fields: inout FieldReader) -> [String: Set<Scope>]? {
        fields.object("scopes", isRequired: false, expected: "an object of apps, each with a list of scopes") {
            members in
            var scopes: [String: Set<Scope>] = [:]
            for app in members.names { scopes[app] = Scope.read(app, &members) }
            return scopes
        } ?? (fields.isValidSoFar ? [:] : nil)
    }

    private static func field(of kind: CallerBinding.Kind) -> String {
        switch kind {
        case .certificate: "certificates"
        case .uid: "uids"
        case .gid: "gids"
        }
    }

    private static func rule(of kind: CallerBinding.Kind) -> String {
        switch kind {
        case .certificate:
            "A certificate is named by a URI of at most 2048 visible ASCII characters, such as `spiffe://example.org/billing`."
        case .uid, .gid: "A user or group is named by its number, 0 to 4294967294."
        }
    }

    private static func bindings(_ fields: inout FieldReader) -> Set<CallerBinding>? {
        var bindings: Set<CallerBinding> = []
        for kind in CallerBinding.Kind.allCases {
            let name = field(of: kind)
            guard let values = fields.array(name, isRequired: false, expected: "a list") else { continue }
            for (index, value) in values.enumerated() {
                let text: String? =
                    switch value {
                    case .string(let text) where kind == .certificate: text
                    case .integer(let number) where kind != .certificate: "\(number)"
                    default: nil
                    }
                if let binding = text.flatMap({ CallerBinding(kind, $0) }) {
                    bindings.insert(binding)
                } else {
                    fields.note("\(name)[\(index)]", "format", rule(of: kind))
                }
            }
        }
        return fields.isValidSoFar ? bindings : nil
    }
}

extension Scope {
    /// Reads a list of at least one scope.
    static func read(_ name: String, _ fields: inout FieldReader) -> Set<Scope>? {
        guard let values = fields.array(name, expected: "a list of scopes") else { return nil }
        let scopes = values.compactMap { value in
            if case .string(let text) = value { Scope(rawValue: text) } else { nil }
        }
        guard scopes.count == values.count, !scopes.isEmpty else {
            fields.note(
                name, values.isEmpty ? "empty" : "enum",
                "`\(fields.qualified(name))` must be a list of at least one of \(list).")
            return nil
        }
        return Set(scopes)
    }

    /// Every scope, for messages.
    static var list: String { allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") }
}

/// The names of callers.
package enum CallerName {
    static let rule = "A caller's name is 1 to 63 of `a`–`z`, `0`–`9` and `-`, not beginning with `-`."

    /// Whether a text can be one.
    package static func isValid(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
