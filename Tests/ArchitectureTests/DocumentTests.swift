import Foundation
import Testing

/// What the documents about the code name is there: a type that was renamed, or a file that was moved, is told here and
/// not by a reader who is lost.
struct DocumentTests {
    private static let documents = [
        "docs/request-walkthrough.md", "docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md",
    ]
    /// Names in capitals that are none of our types: libraries, environments, formats.
    private static let foreign: Set<String> = [
        "ChannelInboundHandler", "ExistentialAny", "InternalImportsByDefault", "LogHandler", "MemberImportVisibility",
        "MetricsFactory", "Module", "Mutex", "NonisolatedNonsendingByDefault", "Duration", "Makefile", "Production",
        "Sandbox",
        "Prefer", "Retry", "Sources", "Tests", "TestSupport",
    ]

    @Test(arguments: documents)
    func `every file that a document names is there`(document: String) throws {
        let files = try Repository.swiftFiles(below: "Sources") + Repository.swiftFiles(below: "Tests")
        // "…Rules.swift" and "Type+Topic.swift" name kinds of files.
        let named = try Self.code(in: document).filter {
            $0.hasSuffix(".swift") && !$0.contains("…") && $0 != "Type+Topic.swift"
        }
        if document == "docs/request-walkthrough.md" { #expect(named.count > 10, "it names the files of the way") }
        for name in named {
            // A star stands for the rest of a name.
            let isThere =
                name.contains("*")
                ? files.contains { $0.contains("/" + name.prefix { $0 != "*" }) }
                : files.contains { ("/" + $0).hasSuffix("/" + name) }
            #expect(isThere, "\(document) names \(name)")
        }
    }

    @Test(arguments: documents)
    func `every type that a document names is declared`(document: String) throws {
        let declared = try Self.declaredTypes()
        // The last part of the glossary is about what is not there any more: its right half is.
        let text = try Self.code(in: document)
        for name in text where name.wholeMatch(of: /[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*/) != nil {
            #expect(declared.contains(name) || Self.foreign.contains(name), "\(document) names \(name)")
        }
    }

    /// What stands between backquotes, outside of blocks of code and of the left half of tables about former names.
    private static func code(in document: String) throws -> [String] {
        var isBlock = false
        var isFormer = false
        var found: [String] = []
        for line in try Repository.text(document).split(separator: "\n") {
            if line.hasPrefix("```") { isBlock.toggle() }
            if line.hasPrefix("#") { isFormer = false }
            if line.hasPrefix("| was | is") { isFormer = true }
            guard !isBlock else { continue }
            let text = isFormer ? line.split(separator: "|").dropFirst().joined() : String(line)
            found += text.matches(of: /`([^`]+)`/).flatMap { match in
                match.1.split(separator: /[ ,:(){}\[\]]+/).map(String.init)
            }
        }
        return found
    }

    /// Every type, module and extension point of the sources, nested ones by their last name.
    private static func declaredTypes() throws -> Set<String> {
        let declaration = /\b(?:struct|class|enum|actor|protocol|typealias|associatedtype) +([A-Z]\w*)/
        var names = Set(try Repository.folders(below: "Sources"))
        for file in try Repository.swiftFiles(below: "Sources") + Repository.swiftFiles(below: "Tests") {
            names.insert(String(file.split(separator: "/").last?.dropLast(6) ?? ""))
            for match in try Repository.text(file).matches(of: declaration) { names.insert(String(match.1)) }
        }
        return names
    }
}
