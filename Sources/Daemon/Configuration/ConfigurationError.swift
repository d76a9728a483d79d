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
