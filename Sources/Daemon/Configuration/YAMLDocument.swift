import Yams

/// Reads the text of the configuration file into elements.
///
/// Syntax errors end the reading; keys given twice do not, so that they are reported together with everything else.
struct YAMLDocument {
    /// The most elements a file may have, which also bounds what its aliases can expand to.
    static let maximumElements = 100_000

    /// The top-level table.
    let root: ConfigurationElement
    /// Keys that are given twice, or are no text.
    let problems: [ConfigurationProblem]

    /// Parses a file's text.
    ///
    /// - Throws: `ConfigurationError` when it is no YAML, or no table.
    init(text: String, file: String) throws(ConfigurationError) {
        let whole = ConfigurationOrigin.file(file)
        let composed = try DuplicateKeys.compose(text, file: file)
        guard let node = composed.node else {
            throw ConfigurationError(problems: [ConfigurationProblem(whole, "The file is empty.")])
        }
        var reading = YAMLReading(file: file, duplicates: composed.duplicates)
        root = reading.element(node, key: "", name: whole)
        if reading.count > Self.maximumElements {
            throw ConfigurationError(problems: [
                ConfigurationProblem(whole, "The file has more than \(Self.maximumElements) elements.")
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
        guard count <= YAMLDocument.maximumElements else {
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
