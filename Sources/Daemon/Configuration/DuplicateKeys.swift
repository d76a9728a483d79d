import Yams

/// Composes YAML in which a key may be given twice, where Yams alone would give up at the first.
///
/// Each round that fails spoils the name of one key that is given twice and tries again; the names are put back by place.
enum DuplicateKeys {
    /// The most duplicates looked for; with more, only the next one is reported.
    static let maximumRounds = 100

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
                return (try Yams.compose(yaml: text), duplicates)
            } catch YamlError.duplicatedKeysInMapping(let names, let context) {
                let place = Place(context.mark)
                guard let name = names.first, duplicates.count < maximumRounds, duplicates[place] == nil,
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
            return ConfigurationProblem(.file(file), "This is no YAML: \(error).")
        }
    }
}
