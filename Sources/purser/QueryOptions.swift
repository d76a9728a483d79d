import ArgumentParser
import Daemon

/// How to reach the daemon, and the form of what it answers.
struct QueryOptions: ParsableArguments {
    @OptionGroup var daemon: DaemonOptions

    @Option(name: .shortAndLong, help: "table, for people, or json, for programs.")
    var output = OperatorQuery.Format.table

    /// Asks the daemon and prints what it answers.
    ///
    /// - Throws: `ExitCode` unless all is well.
    func ask(_ query: OperatorQuery) async throws {
        try await OperatorQueryCommand(daemon: daemon.daemon, format: output).run(query).finish()
    }
}

extension OperatorQuery.Format: ExpressibleByArgument {}

/// Which entries of a list are shown.
struct ListOptions: ParsableArguments {
    @Option(help: "The app, as the configuration calls it.")
    var app: String

    @Option(help: "Production or Sandbox only.")
    var environment: String?

    @Option(help: "The most entries.")
    var limit = 100

    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit takes 1 to 100000.") }
    }

    /// The path of an app's records.
    func path(_ names: String...) -> [String] { ["v1", "apps", app] + names }
}

/// One record of an app.
struct RecordOptions: ParsableArguments {
    @Option(help: "The app, as the configuration calls it.")
    var app: String

    @Argument(help: "Its id.")
    var id: String

    /// The path of a record.
    func path(_ names: String..., of kind: String) -> [String] { ["v1", "apps", app, kind, id] + names }
}
