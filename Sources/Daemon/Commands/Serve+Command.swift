extension Serve {
    /// `purser serve`: reads the configuration and runs the daemon until it is told to stop.
    ///
    /// - Parameters:
    ///   - file: the configuration file.
    ///   - flags: what the command line overrides.
    ///   - environment: the environment of the process.
    /// - Returns: `configuration` with every problem of it, `failure` with the reason why the daemon could not start or go
    ///   on, or `success` after it was told to stop.
    package static func run(
        file: String, flags: ConfigurationFlags, environment: [String: String]
    ) async -> CommandOutcome {
        do {
            let configuration = try DaemonConfiguration.load(file: file, flags: flags, environment: environment)
            try await run(configuration: configuration)
            return CommandOutcome(.success)
        } catch let error as ConfigurationError {
            return CommandOutcome(.configuration, errorOutput: "\(error)\n")
        } catch {
            return CommandOutcome(.failure, errorOutput: "\(error)\n")
        }
    }
}
