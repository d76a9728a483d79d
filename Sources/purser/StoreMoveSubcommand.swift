import ArgumentParser
import Daemon
import Foundation

/// The command `purser store move`.
struct StoreMoveSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a store from an SQLite file into an empty database of PostgreSQL's.",
        discussion: """
            No daemon may run, neither on the file nor on the database. Everything arrives and is compared, or nothing does. The \
            file is kept, and nothing is sent from it afterwards. `masterKey` and `storePassword` are those of the configuration \
            file; docs/operations.md tells the steps.

            Exits with 0 when all is moved; with 66 when there is no such file; with 78 when the configuration lacks the master \
            key that the store is sealed under, or is wrong; with 1 when nothing was moved, and why.
            """)

    @Option(help: "The file: a path, or sqlite: and a path.")
    var from: String

    @Option(help: "The database: postgres://USER@HOST/DATABASE.")
    var to: String

    @Option(name: [.customShort("c"), .long], help: "The configuration file, for masterKey and storePassword.")
    var config = ConfigurationDefaults.file

    @Option(name: .shortAndLong, help: "table, for people, or json, for programs.")
    var output = OperatorQuery.Format.table

    func validate() throws {
        guard !from.contains("://") else { throw ValidationError("--from takes a path, or sqlite: and a path.") }
        guard to.hasPrefix("postgres://") || to.hasPrefix("postgresql://") else {
            throw ValidationError("--to takes postgres://USER@HOST/DATABASE.")
        }
    }

    func run() async throws {
        let options = StoreMoveCommand.Options(from: from, to: to, file: config, format: output)
        let command = StoreMoveCommand(options, environment: ProcessInfo.processInfo.environment) { line in
            FileHandle.standardError.write(Data("\(line)\n".utf8))
        }
        try await command.run().finish()
    }
}
