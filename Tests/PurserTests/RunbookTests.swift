import ArgumentParser
import TestSupport
import Testing

@testable import purser

/// What the documents tell operators to type: commands that are there, with options that they take.
struct RunbookTests {
    @Test func `the documents tell of commands in every part of the runbook`() throws {
        let steps = try DocumentedCommand.all()
        #expect(steps.filter(\.isWhole).count > 25)
        #expect(Set(steps.map(\.document)).isSuperset(of: ["operations.md", "keys.md", "callers.md", "audit.md"]))
    }

    @Test func `a command that a document names is there, and takes the options that are named with it`() throws {
        for step in try DocumentedCommand.all() {
            // What the library adds of itself leads to a command as words do.
            let words = step.words.first == "help" ? Array(step.words.dropFirst()) : step.words
            guard !words.isEmpty else { continue }
            let (command, rest) = Self.command(words)
            #expect(
                ObjectIdentifier(command) != ObjectIdentifier(Purser.self), "\(step): no such command")
            if let verb = rest.first, !command.configuration.subcommands.isEmpty, verb != "…" {
                #expect(verb.hasPrefix("-") || verb.contains("|"), "\(step): no such command")
            }
            let help = Self.help(of: command)
            for option in rest where option.hasPrefix("--") {
                #expect(help.contains(option), "\(step) takes no \(option)")
            }
        }
    }

    @Test func `what stands in a block of commands parses as it is`() throws {
        for step in try DocumentedCommand.all() where step.isWhole && !step.words.contains("…") {
            #expect(throws: Never.self, "\(step)") { _ = try Purser.parseAsRoot(step.words) }
        }
    }

    // MARK: Commands

    /// The command that words lead to, and the words behind it.
    private static func command(_ words: [String]) -> (any ParsableCommand.Type, ArraySlice<String>) {
        var (command, rest): (any ParsableCommand.Type, _) = (Purser.self, words[...])
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: { name(of: $0) == word })
        {
            (command, rest) = (next, rest.dropFirst())
        }
        return (command, rest)
    }

    private static func name(of command: any ParsableCommand.Type) -> String { command._commandName }

    private static func help(of command: any ParsableCommand.Type) -> String {
        Purser.helpMessage(for: command, includeHidden: true, columns: 1_000)
    }
}
