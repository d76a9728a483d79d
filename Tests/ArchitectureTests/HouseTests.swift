import Foundation
import Testing

/// The rules of the house that a reader relies on.
struct HouseTests {
    @Test func `the top level holds the five agreed folders and no other`() throws {
        let folders = try Repository.folders(below: "").filter { !$0.hasPrefix(".") }
        #expect(Set(folders) == ["Sources", "Tests", "api", "deploy", "docs"])
    }

    @Test func `no source file is longer than 400 lines`() throws {
        let files = try Repository.swiftFiles(below: "Sources") + Repository.swiftFiles(below: "Tests")
        // What is generated nobody reads.
        for file in files where !file.contains("/Generated/") {
            let lines = try Self.lineCount(file)
            #expect(lines <= 400, "\(file) has \(lines) lines")
        }
    }

    /// Files of fewer than 25 lines, each with its reason: what a reader looks for by exactly this name.
    private static let smallFiles: [String: String] = [:]
    private static let maximumSmallFiles = 15

    @Test func `a file holds a concept, so that small ones are few and have a reason`() throws {
        let small = try Repository.swiftFiles(below: "Sources").filter { try Self.lineCount($0) < 25 }
        #expect(Set(small) == Set(Self.smallFiles.keys))
        #expect(small.count <= Self.maximumSmallFiles)
    }

    private static func lineCount(_ file: String) throws -> Int {
        try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false).count - 1
    }

    /// Types of one name in two modules, each with the reason why neither has another.
    private static let namesakes: [String: String] = [
        "ProductType": "Apple's values on the wire in AppStoreAPI, those that a rule asks about in Domain",
        "SubscriptionStatus": "Apple's number on the wire in AppStoreAPI, what it means in Domain",
    ]

    @Test func `a name means one type in the whole house`() throws {
        let declaration = /^(?:package |final |indirect )*(?:struct|class|enum|actor|protocol|typealias) (\w+)/
        var modules: [String: Set<String>] = [:]
        for file in try Repository.swiftFiles(below: "Sources") {
            let module = file.split(separator: "/")[1]
            for line in try Repository.text(file).split(separator: "\n") {
                guard let name = line.firstMatch(of: declaration)?.1 else { continue }
                modules[String(name), default: []].insert(String(module))
            }
        }
        let found = modules.filter { $0.value.count > 1 }
        #expect(!modules.isEmpty)
        for (name, places) in found.sorted(by: { $0.key < $1.key }) where Self.namesakes[name] == nil {
            Issue.record("\(name) is declared in \(places.sorted().joined(separator: ", "))")
        }
        #expect(Set(Self.namesakes.keys).subtracting(found.keys).isEmpty, "not namesakes any more")
    }

    @Test func `nothing is public: we ship programs, not libraries`() throws {
        // A program's own conformances to protocols of other packages must be as visible as those protocols.
        let programs = ["Sources/purser/", "Sources/appstore-simulator/"]
        for file in try Repository.swiftFiles(below: "Sources") where !programs.contains(where: file.hasPrefix) {
            for line in try Repository.text(file).split(separator: "\n") {
                let code = line.drop { $0 == " " }
                #expect(!code.hasPrefix("public ") && !code.hasPrefix("open "), "\(file): \(code)")
            }
        }
    }

    @Test func `every claim of unchecked sendability gives its reason beside it`() throws {
        for file in try Repository.swiftFiles(below: "Sources") {
            let lines = try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated()
            where line.contains("@unchecked Sendable") && !line.drop(while: { $0 == " " }).hasPrefix("//") {
                let above = lines[max(0, index - 12)..<index].reversed().prefix { line in
                    line.drop { $0 == " " }.hasPrefix("//")
                }
                let reason = above.contains { $0.contains("Sendable") || $0.contains("thread") || $0.contains("guard") }
                #expect(reason, "\(file):\(index + 1) does not say what guards it")
            }
        }
    }

    @Test func `no source file is left unfinished`() throws {
        let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "fatal" + "Error(", "try" + "!", " as" + "! "]
        for file in try Repository.swiftFiles(below: "Sources") {
            let text = try Repository.text(file)
            for mark in marks { #expect(!text.contains(mark), "\(file) holds \(mark)") }
        }
    }
}
