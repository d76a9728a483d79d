import JSON
import Yams

/// Reads the text of the configuration file into elements.
///
/// Syntax errors end the reading; keys given twice do not, so that they are reported together with everything else.
struct YAMLDocument {
    /// The top-level table.
    let root: ConfigurationElement
    /// Keys that are given twice, or are no text.
    let problems: [ConfigurationProblem]

    /// Parses a file's text.
    ///
    /// - Throws: `ConfigurationError` when it is no YAML, or no table.
    init(text: String, file: String) throws(ConfigurationError) {
        let whole = ConfigurationOrigin.file(file)
        // Yams and the reader of settings hash and compare keys as strings.
        guard UntrustedText(text).checked != nil else {
            throw ConfigurationError(problems: [
                ConfigurationProblem(whole, "The file cannot be used: \(UntrustedText.longRunFault).")
            ])
        }
        let composed = try DuplicateKeys.compose(text, file: file)
        guard let node = composed.node else {
            throw ConfigurationError(problems: [ConfigurationProblem(whole, "The file is empty.")])
        }
        var reading = YAMLReading(file: file, duplicates: composed.duplicates)
        root = reading.element(node, key: "", name: whole)
        let maximum = ConfigurationDefaults.maximumFileElements
        if reading.count > maximum {
            throw ConfigurationError(problems: [
                ConfigurationProblem(whole, "The file has more than \(maximum) elements.")
            ])
        }
        guard case .table = root.content else {
            throw ConfigurationError(problems: [
                ConfigurationProblem(whole, "The file must be a table of keys, not \(root.kind).")
            ])
        }
        problems = reading.problems
    }
}

/// Turns Yams' nodes into elements.
private struct YAMLReading {
    let file: String
    let duplicates: [DuplicateKeys.Place: String]
    var problems: [ConfigurationProblem] = []
    var count = 0

    mutating func element(_ node: Node, key: String, name: ConfigurationOrigin) -> ConfigurationElement {
        count += 1
        guard count <= ConfigurationDefaults.maximumFileElements else {
            return ConfigurationElement(key: key, origin: name, content: .empty)
        }
        switch node {
        case .scalar(let scalar):
            // YAML's core schema (YAML 1.2, section 10.3.2).
            let isEmpty = scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
            return ConfigurationElement(
                key: key, origin: isEmpty ? name : origin(of: node), content: isEmpty ? .empty : .text(scalar.string))
        case .sequence(let sequence):
            let elements = sequence.enumerated().map { index, node in
                element(node, key: "\(key)[\(index)]", name: origin(of: node))
            }
            return ConfigurationElement(key: key, origin: name, content: .list(elements))
        case .mapping(let mapping):
            return ConfigurationElement(key: key, origin: name, content: .table(members(of: mapping, key: key)))
        case .alias:
            // The composer has put the node that it stands for in its place.
            return ConfigurationElement(key: key, origin: name, content: .empty)
        }
    }

    private mutating func members(of mapping: Node.Mapping, key: String) -> [ConfigurationElement.Member] {
        var members: [ConfigurationElement.Member] = []
        var earlier: [String: Int] = [:]
        for (keyNode, node) in mapping {
            let nameOrigin = origin(of: keyNode)
            guard let scalar = keyNode.scalar else {
                problems.append(ConfigurationProblem(nameOrigin, key: key, "A key must be a single word."))
                continue
            }
            let place = keyNode.mark.map(DuplicateKeys.Place.init)
            let setAside = place.flatMap { duplicates[$0] }
            let name = setAside ?? scalar.string
            let path = key.isEmpty ? name : "\(key).\(name)"
            if let line = earlier[name] {
                problems.append(
                    ConfigurationProblem(nameOrigin, key: path, "This key is already given on line \(line)."))
            }
            if setAside != nil, let line = nameOrigin.line { earlier[name] = earlier[name] ?? line }
            let value = element(node, key: path, name: nameOrigin)
            members.append(ConfigurationElement.Member(name: name, origin: nameOrigin, value: value))
        }
        return members
    }

    private func origin(of node: Node) -> ConfigurationOrigin {
        .file(file, line: node.mark?.line, column: node.mark?.column)
    }
}

/// Composes YAML in which a key may be given twice, where Yams alone would give up at the first.
///
/// Each round that fails spoils the name of one key that is given twice and tries again; the names are put back by place.
enum DuplicateKeys {
    /// A place in the text, counted from 1, the column in Unicode scalars.
    struct Place: Hashable {
        let line: Int
        let column: Int

        init(_ mark: Mark) {
            line = mark.line
            column = mark.column
        }
    }

    /// Composes a document.
    ///
    /// - Returns: The root node, and the true names of the keys whose later namesakes are duplicates, by place.
    /// - Throws: `ConfigurationError` when the text is no YAML.
    static func compose(
        _ text: String, file: String
    ) throws(ConfigurationError) -> (node: Node?, duplicates: [Place: String]) {
        var text = text
        var duplicates: [Place: String] = [:]
        while true {
            do {
                // Without rules: values are read as text here, and a rule is a regular expression for each key.
                return (try Yams.compose(yaml: text, .basic), duplicates)
            } catch YamlError.duplicatedKeysInMapping(let names, let context) {
                let place = Place(context.mark)
                guard let name = names.first, duplicates.count < ConfigurationDefaults.maximumDuplicateKeys,
                    duplicates[place] == nil,
                    let spoilt = spoil(text, at: place, round: duplicates.count)
                else {
                    let origin = ConfigurationOrigin.file(file, line: place.line, column: place.column)
                    throw ConfigurationError(problems: [
                        ConfigurationProblem(origin, key: names.first ?? "", "This key is given twice.")
                    ])
                }
                duplicates[place] = name
                text = spoilt
            } catch {
                throw ConfigurationError(problems: [problem(error, file: file)])
            }
        }
    }

    /// Replaces the first character of the key at a place by one of the private use area, so that no place moves.
    ///
    /// Each round has its own character: two keys spoilt alike would be duplicates again.
    private static func spoil(_ text: String, at place: Place, round: Int) -> String? {
        var scalars = Array(text.unicodeScalars)
        var index = 0
        for _ in 1..<place.line {
            guard let end = scalars[index...].firstIndex(of: "\n") else { return nil }
            index = end + 1
        }
        index += place.column - 1
        guard scalars.indices.contains(index) else { return nil }
        if scalars[index] == "\"" || scalars[index] == "'" { index += 1 }
        guard scalars.indices.contains(index), let mark = Unicode.Scalar(0xE000 + round) else { return nil }
        scalars[index] = mark
        var spoilt = String.UnicodeScalarView()
        spoilt.append(contentsOf: scalars)
        return String(spoilt)
    }

    /// What the parser says, without the line of the file that it quotes.
    ///
    /// The texts of libyaml are constants; whatever else an error holds may be a line of the file.
    private static func problem(_ error: any Error, file: String) -> ConfigurationProblem {
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _),
            YamlError.composer(let context, let problem, let mark, _):
            let text = [context.map { "\($0.text) on line \($0.mark.line)" }, problem].compactMap { $0 }
            return ConfigurationProblem(
                .file(file, line: mark.line, column: mark.column), "This is no YAML: \(text.joined(separator: ", ")).")
        case YamlError.reader(let problem, let offset, _, let yaml):
            let line = offset.map { yaml.prefix($0).count { $0.isNewline } + 1 }
            return ConfigurationProblem(.file(file, line: line), "This is no YAML: \(problem).")
        default:
            return ConfigurationProblem(.file(file), "This is no YAML: the parser failed.")
        }
    }
}
