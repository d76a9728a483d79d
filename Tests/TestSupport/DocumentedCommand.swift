import Foundation

/// A command that a document tells operators to type.
package struct DocumentedCommand: CustomStringConvertible, Sendable {
    /// The document's file name.
    package let document: String
    /// The headings that it stands under, the widest first.
    package let headings: [String]
    /// What comes after `purser`.
    package let words: [String]
    /// Whether it stands in a block of commands, where it can be pasted as it is.
    package let isWhole: Bool

    package var description: String { "\(document): purser \(words.joined(separator: " "))" }

    /// Those of the README and of every document, in their order.
    package static func all() throws -> [DocumentedCommand] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "docs").path)
        let documents = names.filter { $0.hasSuffix(".md") }.sorted().map { ("docs/\($0)", $0) }
        return try (documents + [("README.md", "README.md")]).flatMap { path, name in
            commands(in: try String(contentsOf: root.appending(path: path), encoding: .utf8), name)
        }
    }

    private static func commands(in text: String, _ document: String) -> [DocumentedCommand] {
        var (commands, headings, isBlock): ([DocumentedCommand], [String], Bool) = ([], [], false)
        func add(_ words: [String], isWhole: Bool) {
            commands.append(
                DocumentedCommand(document: document, headings: headings, words: words, isWhole: isWhole))
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isBlock.toggle()
            } else if isBlock {
                if let words = words(line[...]) { add(words, isWhole: true) }
            } else if let heading = line.prefixMatch(of: #/(#+) /#) {
                headings = headings.prefix(heading.1.count - 1) + [String(line[heading.range.upperBound...])]
            } else {
                // In a table a vertical line within code has a backslash.
                for match in line.replacing("\\|", with: "|").matches(of: /`([^`]+)`/) {
                    guard let words = words(match.1), words.first?.contains(/^[a-z]/) == true else { continue }
                    add(words, isWhole: false)
                }
            }
        }
        return commands
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
