import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import purser

/// What the documents tell operators to type: commands that are there, with options that they take.
struct RunbookTests {
    /// A command of a document.
    struct Step: CustomTestStringConvertible, Sendable {
        let document: String
        /// Without `purser`.
        let words: [String]
        /// Whether it stands in a block of commands, where it can be pasted as it is.
        let isWhole: Bool

        var testDescription: String { "\(document): purser \(words.joined(separator: " "))" }
    }

    @Test func `the documents tell of commands in every part of the runbook`() throws {
        let steps = try Self.steps()
        #expect(steps.filter(\.isWhole).count > 25)
        #expect(Set(steps.map(\.document)).isSuperset(of: ["operations.md", "keys.md", "callers.md", "audit.md"]))
    }

    @Test func `a command that a document names is there, and takes the options that are named with it`() throws {
        for step in try Self.steps() {
            // What the library adds of itself leads to a command as words do.
            let words = step.words.first == "help" ? Array(step.words.dropFirst()) : step.words
            guard !words.isEmpty else { continue }
            let (command, rest) = Self.command(words)
            #expect(
                ObjectIdentifier(command) != ObjectIdentifier(Purser.self), "\(step.testDescription): no such command")
            if let verb = rest.first, !command.configuration.subcommands.isEmpty, verb != "…" {
                #expect(verb.hasPrefix("-") || verb.contains("|"), "\(step.testDescription): no such command")
            }
            let help = Self.help(of: command)
            for option in rest where option.hasPrefix("--") {
                #expect(help.contains(option), "\(step.testDescription) takes no \(option)")
            }
        }
    }

    @Test func `what stands in a block of commands parses as it is`() throws {
        for step in try Self.steps() where step.isWhole && !step.words.contains("…") {
            #expect(throws: Never.self, "\(step.testDescription)") { _ = try Purser.parseAsRoot(step.words) }
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

    // MARK: Documents

    private static func steps() throws -> [Step] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "docs").path)
        let documents = names.filter { $0.hasSuffix(".md") }.sorted().map { ("docs/\($0)", $0) }
        return try (documents + [("README.md", "README.md")]).flatMap { path, name in
            steps(in: try String(contentsOf: root.appending(path: path), encoding: .utf8), name)
        }
    }

    private static func steps(in text: String, _ document: String) -> [Step] {
        var (steps, isBlock): ([Step], Bool) = ([], false)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isBlock.toggle()
            } else if isBlock {
                if let words = words(line[...]) { steps.append(Step(document: document, words: words, isWhole: true)) }
            } else {
                // In a table a vertical line within code has a backslash.
                for match in line.replacing("\\|", with: "|").matches(of: /`([^`]+)`/) {
                    guard let words = words(match.1), words.first?.contains(/^[a-z]/) == true else { continue }
                    steps.append(Step(document: document, words: words, isWhole: false))
                }
            }
        }
        return steps
    }

    /// The words behind `purser`, as a shell would split them; nil for what is no command of it.
    private static func words(_ line: Substring) -> [String]? {
        var line = line.drop { $0 == " " }
        if line.hasPrefix("sudo ") { line = line.dropFirst(5) }
        // What comes before it in a pipe is no business of ours.
        if let pipe = line.range(of: "| purser ") { line = line[pipe.lowerBound...].dropFirst(2) }
        guard line.hasPrefix("purser ") else { return nil }
        var (words, word, quote): ([String], String?, Character?) = ([], nil, nil)
        scan: for character in line.dropFirst("purser ".count) {
            switch (character, quote) {
            case (let end, let open?) where end == open: quote = nil
            case (_, .some): word = (word ?? "") + String(character)
            case ("'", nil), ("\"", nil): (quote, word) = (character, word ?? "")
            case (" ", nil):
                if let word { words.append(word) }
                word = nil
            case ("#", nil) where word == nil, ("|", nil) where word == nil, (">", nil), ("<", nil), (";", nil):
                break scan
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words.isEmpty ? nil : words
    }
}
