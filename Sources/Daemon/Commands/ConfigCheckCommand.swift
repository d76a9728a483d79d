/// `purser config check`: everything that `purser serve` would refuse at start, without starting.
///
/// Besides the configuration itself it opens every file that the configuration names: keys with their permissions, root
/// certificates, certificate authorities.
package enum ConfigCheckCommand {
    /// Checks a file under the environment of `purser serve`.
    ///
    /// - Returns: `success` with a summary, or `configuration` with every problem, one a line; warnings in either case.
    package static func run(file: String, environment: [String: String]) -> CommandOutcome {
        do {
            let (configuration, files) = try ConfigurationFiles.load(file: file, environment: environment)
            let warnings = lines(configuration.warnings + files.warnings, prefix: "warning: ")
            guard files.problems.isEmpty else {
                return CommandOutcome(.configuration, errorOutput: lines(files.problems) + warnings)
            }
            return CommandOutcome(.success, output: summary(configuration, file: file), errorOutput: warnings)
        } catch {
            return CommandOutcome(.configuration, errorOutput: lines(error.problems))
        }
    }

    private static func lines(_ problems: [ConfigurationProblem], prefix: String = "") -> String {
        problems.map { "\(prefix)\($0)\n" }.joined()
    }

    private static func summary(_ configuration: DaemonConfiguration, file: String) -> String {
        let upstream = configuration.apple.usesCustomUpstream ? "CUSTOM, calls do not go to Apple" : "Apple"
        return """
            \(file) is valid: apps \(configuration.apps.count), keys \(configuration.keys.count), \
            callers \(configuration.callers.count), upstream \(upstream).

            """
    }
}
