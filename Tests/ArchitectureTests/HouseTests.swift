import Foundation
import Testing

/// The rules of the house that a reader relies on.
struct HouseTests {
    @Test func `the top level holds the five agreed folders and no other`() throws {
        let folders = try Repository.folders(below: "").filter { !$0.hasPrefix(".") }
        #expect(Set(folders) == ["Sources", "Tests", "api", "deploy", "docs"])
    }

    @Test func `no source file is longer than 400 lines`() throws {
        for file in try Repository.swiftFiles(below: "Sources") + Repository.swiftFiles(below: "Tests") {
            let lines = try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false).count - 1
            #expect(lines <= 400, "\(file) has \(lines) lines")
        }
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
