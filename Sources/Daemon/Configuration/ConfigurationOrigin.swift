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
