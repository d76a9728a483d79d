/// Reads the configuration section by section and collects every problem on the way.
///
/// What the sections ask for is what is known: at the end every key of the file and every `PURSER_` variable of the
/// environment that nobody asked for is a problem too. Each section is read in the file of what it becomes
/// (`AppleConfiguration.swift` and so on), with the defaults and bounds of `ConfigurationDefaults.swift`.
struct ConfigurationParser {
    let file: String
    let root: ConfigurationElement
    /// Where systemd puts the credentials of the unit.
    let credentialsDirectory: String
    private let settings: ConfigurationSettings
    private let environment: [String: String]
    private(set) var problems: [ConfigurationProblem]
    private var reported: Set<ConfigurationProblem>
    private(set) var warnings: [ConfigurationProblem] = []
    /// The names that were asked for, by the key path of their table.
    private var knownNames: [String: Set<String>] = [:]
    /// The settings that were asked for, in that order, as they are in force.
    private(set) var inForce: [ResolvedSetting] = []
    /// The paths of the settings that were asked for.
    private var knownSettings: Set<[String]> = []

    init(document: YAMLDocument, file: String, flags: ConfigurationFlags, environment: [String: String]) {
        self.file = file
        self.root = document.root
        self.problems = document.problems
        self.reported = Set(document.problems)
        self.environment = environment
        self.credentialsDirectory = environment["CREDENTIALS_DIRECTORY"] ?? ConfigurationDefaults.credentialsDirectory
        self.settings = ConfigurationSettings(root: document.root, flags: flags, environment: environment)
    }

    /// Notes a problem, once however many settings meet it.
    mutating func report(_ origin: ConfigurationOrigin, key: String, _ message: String) {
        let problem = ConfigurationProblem(origin, key: key, message)
        if reported.insert(problem).inserted { problems.append(problem) }
    }

    /// Notes what is allowed but probably not meant.
    mutating func warn(_ origin: ConfigurationOrigin, key: String, _ message: String) {
        warnings.append(ConfigurationProblem(origin, key: key, message))
    }

    /// Ends the reading: what nobody asked for is reported, and every problem is put in the order of the file.
    mutating func finish() {
        reportUnknownNames(in: root)
        reportUnknownVariables()
        problems = Self.sorted(problems)
        warnings = Self.sorted(warnings)
    }

    private mutating func reportUnknownVariables() {
        let given = environment.keys.filter { $0.hasPrefix(ConfigurationSettings.variablePrefix) }
        guard !given.isEmpty else { return }
        let known = Set(knownSettings.map(settings.variable))
        for name in given.sorted() where !known.contains(name) {
            let hint = Suggestion.text(for: name, among: known)
            report(.environment(name), key: "", "No setting has this name. \(hint)".trimmed)
        }
    }

    private mutating func reportUnknownNames(in element: ConfigurationElement) {
        if case .list(let elements) = element.content {
            for element in elements { reportUnknownNames(in: element) }
        }
        for member in element.members {
            guard let known = knownNames[element.key] else { return }
            if known.contains(member.name) {
                reportUnknownNames(in: member.value)
            } else {
                let hint = Suggestion.text(for: member.name, among: known)
                report(member.origin, key: member.value.key, "Unknown key. \(hint)".trimmed)
            }
        }
    }

    /// Those of the file by line, then the others; in the order of reading where that says nothing.
    private static func sorted(_ problems: [ConfigurationProblem]) -> [ConfigurationProblem] {
        func rank(_ problem: ConfigurationProblem) -> Int {
            guard case .file(_, let line, _) = problem.origin else { return .max }
            return line ?? 0
        }
        return problems.enumerated()
            .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
            .map(\.element)
    }
}

// Settings: single values that flags and the environment can override.
extension ConfigurationParser {
    /// A setting that may be left out.
    mutating func setting<Value>(_ path: [String], as value: ConfigurationValue<Value>) -> Value? {
        noteSetting(path)
        let key = path.joined(separator: ".")
        guard let (text, origin) = settings.text(at: path) else {
            inForce.append(ResolvedSetting(key: key, value: nil, origin: nil))
            return nil
        }
        guard let result = value.parse(text) else {
            report(origin, key: key, value.complaint(about: text))
            return nil
        }
        inForce.append(ResolvedSetting(key: key, value: value.isSecret ? "(not shown)" : text, origin: origin))
        return result
    }

    /// A setting with a default.
    mutating func setting<Value>(_ path: [String], as value: ConfigurationValue<Value>, default: Value) -> Value {
        setting(path, as: value, default: `default`, written: ResolvedSetting.text(of: `default`))
    }

    /// A setting with a default and bounds.
    mutating func setting<Value>(_ path: [String], _ bounded: BoundedSetting<Value>) -> Value {
        setting(path, as: bounded.kind, default: bounded.default, written: bounded.defaultText)
    }

    private mutating func setting<Value>(
        _ path: [String], as value: ConfigurationValue<Value>, default: Value, written text: String
    ) -> Value {
        if let result = setting(path, as: value) { return result }
        if inForce.last?.key == path.joined(separator: "."), inForce.last?.origin == nil {
            inForce[inForce.count - 1].value = text
        }
        return `default`
    }

    /// A setting that must be given; `nil` only after a problem was reported.
    mutating func requiredSetting<Value>(_ path: [String], as value: ConfigurationValue<Value>) -> Value? {
        let count = problems.count
        let result = setting(path, as: value)
        if result == nil, problems.count == count {
            report(
                place(of: path), key: path.joined(separator: "."),
                "This key is required; it must be \(value.expectation).")
        }
        return result
    }

    /// Where a setting was given, or where in the file it would belong.
    func place(of path: [String]) -> ConfigurationOrigin {
        if let origin = settings.text(at: path)?.origin { return origin }
        for length in stride(from: path.count, through: 1, by: -1) {
            if let element = root.element(at: path.prefix(length)) { return element.origin }
        }
        return .file(file)
    }

    /// Whether a setting was given at all, rightly or not.
    func isGiven(_ path: [String]) -> Bool { settings.text(at: path) != nil }

    /// Makes a setting known, and checks what the file has on the way to it.
    private mutating func noteSetting(_ path: [String]) {
        knownSettings.insert(path)
        var table = root
        for (index, name) in path.enumerated() {
            guard let element = member(name, of: table) else { return }
            if index == path.count - 1 {
                _ = text(of: element)
            } else if !isTable(element) {
                return
            }
            table = element
        }
    }
}

// Elements: what only the file can say.
extension ConfigurationParser {
    /// An entry of a table, and from now on a known one.
    mutating func member(_ name: String, of table: ConfigurationElement) -> ConfigurationElement? {
        knownNames[table.key, default: []].insert(name)
        return table.member(name)?.value
    }

    /// The entries of a table whose names are the operator's own, such as the apps; each name is checked.
    mutating func entries(
        _ name: String, of table: ConfigurationElement, named value: ConfigurationValue<String>
    ) -> [ConfigurationElement.Member] {
        guard let element = member(name, of: table), isTable(element) else { return [] }
        knownNames[element.key] = Set(element.members.map(\.name))
        for entry in element.members where value.parse(entry.name) == nil {
            report(entry.origin, key: entry.value.key, "The name must be \(value.expectation).")
        }
        return element.members
    }

    /// The elements of a list.
    mutating func elements(_ name: String, of table: ConfigurationElement) -> [ConfigurationElement] {
        guard let element = member(name, of: table) else { return [] }
        guard case .list(let elements) = element.content else {
            report(element.origin, key: element.key, "The value must be a list, not \(element.kind).")
            return []
        }
        return elements
    }

    /// A list of single values, each given once.
    mutating func values<Value: Hashable>(
        _ name: String, of table: ConfigurationElement, as value: ConfigurationValue<Value>
    ) -> [(value: Value, element: ConfigurationElement)] {
        var values: [(value: Value, element: ConfigurationElement)] = []
        var seen: Set<Value> = []
        for element in elements(name, of: table) {
            guard let result = self.value(of: element, as: value) else { continue }
            if seen.insert(result).inserted {
                values.append((result, element))
            } else {
                report(element.origin, key: element.key, "This is listed twice.")
            }
        }
        return values
    }

    /// A single value of a table, if it is given.
    mutating func value<Value>(
        _ name: String, of table: ConfigurationElement, as value: ConfigurationValue<Value>
    ) -> Value? {
        member(name, of: table).flatMap { self.value(of: $0, as: value) }
    }

    /// A single value that a table must have; `nil` only after a problem was reported.
    mutating func requiredValue<Value>(
        _ name: String, of table: ConfigurationElement, as value: ConfigurationValue<Value>
    ) -> Value? {
        guard let element = member(name, of: table) else {
            report(
                table.origin, key: table.key(of: name), "This key is required; it must be \(value.expectation).")
            return nil
        }
        return self.value(of: element, as: value)
    }

    /// Whether an element is a table; a problem is reported where it is not.
    ///
    /// An empty one counts as a table without keys.
    mutating func isTable(_ element: ConfigurationElement) -> Bool {
        switch element.content {
        case .table, .empty: return true
        case .text, .list:
            report(element.origin, key: element.key, "The value must be a table of keys, not \(element.kind).")
            return false
        }
    }

    private mutating func value<Value>(
        of element: ConfigurationElement, as value: ConfigurationValue<Value>
    ) -> Value? {
        guard let text = text(of: element) else { return nil }
        guard let result = value.parse(text) else {
            report(element.origin, key: element.key, value.complaint(about: text))
            return nil
        }
        return result
    }

    private mutating func text(of element: ConfigurationElement) -> String? {
        guard case .text(let text) = element.content else {
            report(element.origin, key: element.key, "The value must be a single value, not \(element.kind).")
            return nil
        }
        return text
    }
}

extension String {
    fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}
