// Writes a manual page to standard output; `make man` compiles and calls it.
//
//   pages command PROGRAM OPERATIONS.MD DATE VERSION    from what PROGRAM says of its commands and options
//   pages configuration CONFIGURATION.MD DATE VERSION   purser.yaml(5), from the document about the configuration
//
// Nothing is written here that the program or the documents do not say, so that a page cannot be older than they are.
import Foundation

/// What stops a page from being written.
struct Unusable: Error, CustomStringConvertible {
    let description: String
}

/// A page in the macros of man(7).
struct Page {
    private(set) var text: String

    /// `date` is the day that the page is of, as `2026-01-31`.
    init(name: String, section: Int, date: String, version: String) {
        text = """
            .\\" Made by `make man`.
            .TH \(name.uppercased()) \(section) "\(date)" "Purser \(version)" "Purser"

            """
    }

    /// Adds a line as it is.
    mutating func add(_ line: String) { text += line + "\n" }

    /// Right after a heading a paragraph begins by itself.
    private var isAfterHeading: Bool {
        let last = text.split(separator: "\n").last ?? ""
        return last.hasPrefix(".SH") || last.hasPrefix(".SS")
    }

    mutating func section(_ title: String) { add(".SH \(Self.quoted(Self.plain(title.uppercased())))") }
    mutating func subsection(_ title: String) { add(".SS \(Self.quoted(Self.plain(title)))") }

    mutating func paragraph(_ words: String) {
        if !isAfterHeading { add(".PP") }
        add(Self.line(words))
    }

    /// Something with a name, and what there is to say of it.
    mutating func entry(_ name: String, _ words: [String]) {
        add(".TP")
        add(name)
        add(Self.line(words.filter { !$0.isEmpty }.joined(separator: " ")))
    }

    mutating func block(_ lines: [String]) {
        add(".PP\n.RS 4\n.nf")
        for line in lines { add(Self.guarded(Self.code(line))) }
        add(".fi\n.RE")
    }

    private static func quoted(_ title: String) -> String { "\"" + title.replacing("\"", with: "\\(dq") + "\"" }

    /// A line that begins with a dot or an apostrophe would be an order.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }

    /// Text that is to be typed as it stands: its hyphens stay hyphens.
    static func code(_ text: String) -> String { plain(text).replacing("-", with: "\\-") }

    static func plain(_ text: String) -> String { text.replacing("\\", with: "\\e") }

    static func bold(_ text: String) -> String { "\\fB" + code(text) + "\\fR" }

    /// A line of Markdown: what is code or bold is bold, of a link its text is left, and the document that it leads to.
    static func line(_ markdown: String) -> String {
        let unlinked = markdown.replacing(#/\[([^\]]+)\]\(([a-z-]+\.md)[^)]*\)/#) { "\($0.1) (\($0.2))" }.replacing(
            #/\[([^\]]+)\]\([^)]*\)/#
        ) { $0.1 }
        var parts: [String] = []
        for (index, part) in unlinked.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 {
                parts.append(bold(String(part)))
            } else {
                parts.append(
                    plain(String(part)).replacing(#/\*\*?([^*]+)\*\*?/#) { "\\fB\($0.1)\\fR" }
                        .replacing(#/(^| )--([a-z])/#) { "\($0.1)\\-\\-\($0.2)" })
            }
        }
        return guarded(parts.joined())
    }
}

// ---- Markdown

/// A piece of a document.
enum Piece {
    case heading(level: Int, String)
    case paragraph(String)
    case item(String)
    case block([String])
    case table([[String]])
}

/// What our documents use of Markdown.
func pieces(of document: String) -> [Piece] {
    var found: [Piece] = []
    var paragraph: [String] = []
    var isItem = false
    var block: [String]?
    var table: [[String]] = []
    func end() {
        let words = paragraph.joined(separator: " ")
        if !words.isEmpty { found.append(isItem ? .item(words) : .paragraph(words)) }
        if !table.isEmpty { found.append(.table(table)) }
        (paragraph, isItem, table) = ([], false, [])
    }
    for line in document.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
        let trimmed = line.trimmingCharacters(in: .whitespaces)
        if line.hasPrefix("```") {
            end()
            if let lines = block { found.append(.block(lines)) }
            block = block == nil ? [] : nil
        } else if block != nil {
            block?.append(line)
        } else if trimmed.isEmpty {
            end()
        } else if line.hasPrefix("#") {
            end()
            let level = line.prefix { $0 == "#" }.count
            found.append(.heading(level: level, String(line.dropFirst(level + 1)).replacing("`", with: "")))
        } else if line.hasPrefix("|") {
            let cells = trimmed.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if !cells.allSatisfy({ !$0.isEmpty && $0.allSatisfy("-: ".contains) }) { table.append(cells) }
        } else {
            if line.hasPrefix("- ") || line.contains(#/^\d+\. /#) {
                end()
                isItem = true
                paragraph = [String(trimmed.drop { $0 != " " }.dropFirst())]
            } else {
                paragraph.append(trimmed)
            }
        }
    }
    end()
    return found
}

extension Page {
    /// Adds a table as a list: the first column names, the others tell.
    mutating func list(_ table: [[String]]) {
        guard let head = table.first else { return }
        for row in table.dropFirst() {
            let words = zip(head, row).dropFirst().compactMap { title, cell -> String? in
                switch (title, cell) {
                case (_, "–"), (_, ""), ("Required", "no"): nil
                case ("Required", "yes"): "Required."
                case ("Required", _), ("Default", _), ("Variable", _), ("Overrides", _): "\(title): \(cell)."
                default: cell.hasSuffix(".") ? cell : cell + "."
                }
            }
            entry(Self.line(row.first ?? ""), words)
        }
    }

    mutating func add(_ piece: Piece) {
        switch piece {
        case .heading(let level, let title):
            if level == 2 { section(title) } else if level == 3 { subsection(title) } else { paragraph("**\(title)**") }
        case .paragraph(let words): paragraph(words)
        case .item(let words):
            add(".IP \\(bu 2")
            add(Self.line(words))
        case .block(let lines): block(lines)
        case .table(let rows): list(rows)
        }
    }
}

// ---- what a program says of itself

/// What `--experimental-dump-help` prints, the `ToolInfoV0` of swift-argument-parser.
struct Tool: Decodable {
    struct Command: Decodable {
        let commandName: String
        let abstract: String?
        let discussion: String?
        let shouldDisplay: Bool?
        let subcommands: [Command]?
        let arguments: [Argument]?

        /// Without `help`, which every command has.
        var shown: [Command] { (subcommands ?? []).filter { $0.commandName != "help" && $0.shouldDisplay ?? true } }
        var options: [Argument] { (arguments ?? []).filter { $0.shouldDisplay && !$0.isAlwaysThere } }
    }

    struct Argument: Decodable, Hashable {
        struct Name: Decodable, Hashable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let allValues: [String]?
        let abstract: String?
        let discussion: String?

        var isAlwaysThere: Bool { (names ?? []).contains { ["help", "version"].contains($0.name) } }
        private var value: String { "\\fI" + Page.code(valueName ?? "value") + "\\fR" }

        /// As it stands in front of its description.
        var heading: String {
            guard kind != "positional" else { return value }
            let all = (names ?? []).sorted { $0.text.count < $1.text.count }.map { Page.bold($0.text) }
            return all.joined(separator: ", ") + (kind == "option" ? " " + value : "")
        }

        var longestName: String? { names?.map(\.text).max { $0.count < $1.count } }

        /// As it stands in a synopsis.
        var usage: String {
            let longest = longestName ?? ""
            let text =
                kind == "positional" ? value : Page.bold(longest) + (kind == "option" ? " " + value : "")
            return (isOptional ? "[\(text)]" : text) + (isRepeating ? "..." : "")
        }

        var description: [String] {
            let values = (allValues ?? []).map { "`\($0)`" }.joined(separator: ", ")
            return [
                abstract ?? "", discussion ?? "", values.isEmpty ? "" : "One of \(values).",
                kind == "flag" ? "" : defaultValue.map { "Default: `\($0)`." } ?? "",
            ]
        }
    }

    let command: Command

    /// - Throws: `Unusable`, and what Foundation says of a program that cannot be run.
    static func asked(_ program: String) throws -> Self {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["--experimental-dump-help"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Unusable(description: "\(program) does not tell its commands")
        }
        return try JSONDecoder().decode(Self.self, from: answer)
    }
}

extension Page {
    /// Adds every command below one, each with what it alone has: the words in front of it, the options that many have.
    mutating func commands(below command: Tool.Command, words: String, common: Set<Tool.Argument>) {
        for child in command.shown {
            let words = words + " " + child.commandName
            guard child.shown.isEmpty else {
                commands(below: child, words: words, common: common)
                continue
            }
            let own = child.options.filter { !common.contains($0) }
            let shared = child.options.filter(common.contains)
            subsection(words)
            add(([Self.bold(words)] + own.map(\.usage)).joined(separator: " "))
            add(".PP")
            add(Self.line([child.abstract, child.discussion].compactMap(\.self).joined(separator: " ")))
            for option in own { entry(option.heading, option.description) }
            if !shared.isEmpty {
                paragraph(
                    "Also " + shared.compactMap(\.longestName).map { "`\($0)`" }.joined(separator: ", ") + "."
                )
            }
        }
    }

    /// The page of a program.
    ///
    /// - Throws: `Unusable` where the operations have no table of exit statuses.
    static func ofProgram(_ path: String, operations: String, date: String, version: String) throws -> Self {
        let tool = try Tool.asked(path).command
        var page = Self(name: tool.commandName, section: 1, date: date, version: version)
        let abstract = tool.abstract ?? ""
        page.section("Name")
        page.add(
            "\(code(tool.commandName)) \\- \(line(abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract))")
        page.section("Synopsis")
        let isSingle = tool.shown.isEmpty
        let usage = isSingle ? tool.options.map(\.usage).joined(separator: " ") : "\\fIcommand\\fR [\\fIoption\\fR...]"
        page.add("\(bold(tool.commandName)) \(usage)")
        page.section("Description")
        page.add(line([abstract, tool.discussion].compactMap(\.self).joined(separator: " ")))
        if isSingle {
            page.section("Options")
            for option in tool.options { page.entry(option.heading, option.description) }
            return page
        }
        var uses: [Tool.Argument: Int] = [:]
        var order: [Tool.Argument] = []
        func count(_ command: Tool.Command) {
            for option in command.options where option.kind != "positional" {
                if uses[option] == nil { order.append(option) }
                uses[option, default: 0] += 1
            }
            command.shown.forEach(count)
        }
        count(tool)
        let common = order.filter { uses[$0, default: 0] > 4 }
        page.paragraph(
            "`\(tool.commandName) help COMMAND` tells of one command, `\(tool.commandName) --version` of this program.")
        page.section("Options of many commands")
        for option in common { page.entry(option.heading, option.description) }
        page.section("Commands")
        page.commands(below: tool, words: tool.commandName, common: Set(common))
        guard
            case .table(let statuses)? = pieces(of: operations).first(where: {
                if case .table(let rows) = $0 { rows.first?.first == "Exit status" } else { false }
            })
        else { throw Unusable(description: "no table of exit statuses") }
        page.section("Exit status")
        page.list(statuses)
        page.section("Environment")
        page.entry(bold("PURSER_*"), ["Settings of `serve`, in place of those of the file; purser.yaml(5) names them."])
        page.section("Files")
        page.entry("\\fI/etc/purser/purser.yaml\\fR", ["The configuration."])
        page.entry(
            "\\fI/run/purser/admin.sock\\fR",
            ["Where commands find the daemon, unless the configuration says otherwise."])
        page.entry(
            "\\fI/usr/share/doc/purser\\fR",
            ["The manual, where the package was installed; begin with `docs/operations.md`."])
        page.section("See also")
        page.add(".BR purser.yaml (5)")
        return page
    }

    /// The page of the configuration file.
    static func ofConfiguration(_ document: String, date: String, version: String) -> Self {
        var page = Self(name: "purser.yaml", section: 5, date: date, version: version)
        page.section("Name")
        page.add("purser.yaml \\- configuration of Purser")
        page.section("Description")
        for piece in pieces(of: document) {
            if case .heading(level: 1, _) = piece { continue }
            page.add(piece)
        }
        page.section("Files")
        page.entry("\\fI/etc/purser/purser.yaml\\fR", ["Where it is looked for, unless `--config` names another."])
        page.section("See also")
        page.add(".BR purser (1)")
        return page
    }
}

// ---- the call

@main
struct Pages {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        func text(_ index: Int) throws -> String { try String(contentsOfFile: arguments[index], encoding: .utf8) }
        let page: Page
        switch (arguments.first, arguments.count) {
        case ("command", 5):
            page = try Page.ofProgram(arguments[1], operations: text(2), date: arguments[3], version: arguments[4])
        case ("configuration", 4):
            page = try Page.ofConfiguration(text(1), date: arguments[2], version: arguments[3])
        default:
            throw Unusable(
                description:
                    "usage: pages command PROGRAM OPERATIONS DATE VERSION | pages configuration FILE DATE VERSION")
        }
        FileHandle.standardOutput.write(Data(page.text.utf8))
    }
}
