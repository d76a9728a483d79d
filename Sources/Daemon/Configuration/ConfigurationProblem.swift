import Domain

/// A configuration that cannot be used, with all that is wrong with it at once.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Never empty: those of the file in the order of its lines, then those of the environment and of the flags.
    package let problems: [ConfigurationProblem]

    package init(problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    /// One problem a line.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong with the configuration: where, which key, what, and how to mend it.
///
/// Neither key nor message repeats what could be a secret.
package struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    package let origin: ConfigurationOrigin
    /// The path of the key, such as `listeners.api.address` or `keys[1].id`; empty when the problem is the whole file's.
    package let key: String
    package let message: String

    package init(_ origin: ConfigurationOrigin, key: String = "", _ message: String) {
        self.origin = origin
        // Names of apps, callers and unknown keys come from the file, and someone may paste a secret in their place.
        self.key = key.split(separator: ".", omittingEmptySubsequences: false).map { QuotableText.name($0) }
            .joined(separator: ".")
        self.message = message
    }

    package var description: String {
        [origin.description, key, message].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// Where a value of the configuration was given.
package enum ConfigurationOrigin: Sendable, Hashable, CustomStringConvertible {
    /// A place in the file, both numbers counted from 1; without a line the problem is the whole file's.
    case file(String, line: Int? = nil, column: Int? = nil)
    /// A variable of the environment.
    case environment(String)
    /// A flag of the command line, with its dashes.
    case flag(String)

    /// The line in the file, if the value comes from there.
    package var line: Int? {
        guard case .file(_, let line, _) = self else { return nil }
        return line
    }

    package var description: String {
        switch self {
        case .file(let path, let line, let column):
            ([path] + [line, column].compactMap { $0.map(String.init) }).joined(separator: ":")
        case .environment(let name): "environment variable \(name)"
        case .flag(let name): "flag \(name)"
        }
    }
}

/// Guesses what somebody meant to type.
enum Suggestion {
    /// A sentence that names the nearest of the known names, if one is near; otherwise one that lists them all.
    static func text(for name: String, among known: some Collection<String>) -> String {
        let known = known.filter { QuotableText.name($0) == $0 }
        let candidates = known.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
        let nearest = candidates.min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        // Two neighbours swapped count as two; a name that shares nothing with the candidate is no slip.
        let slip = min(max(2, name.count / 3), name.count - 1)
        if let nearest, nearest.distance <= slip { return "Did you mean `\(nearest.name)`?" }
        guard known.count <= 20 else { return "" }
        return "Known here: \(known.sorted().map { "`\($0)`" }.joined(separator: ", "))."
    }

    /// Levenshtein's distance: how many characters to insert, delete or replace.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (character == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
