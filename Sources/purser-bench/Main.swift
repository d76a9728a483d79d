import ArgumentParser

@main
struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purser-bench",
        abstract: "Measures Purser against what it is held to. Not for production.",
        discussion: """
            Starts everything itself on free ports of the loopback interface: the service on one core, load and upstream on \
            another. docs/performance.md says what each row measures and how to read the table.
            """,
        subcommands: [RunCommand.self, ProbeCommand.self], defaultSubcommand: RunCommand.self)
}
