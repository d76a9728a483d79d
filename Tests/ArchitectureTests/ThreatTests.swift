import Foundation
import Testing

/// Each threat of the security model names tests, and they are there.
struct ThreatTests {
    private static let document = "docs/security-model.md"

    /// The rows of the table, each with what stands between backquotes in its last column.
    private static func rows() throws -> [(threat: String, tests: [String])] {
        let text = try Repository.text(document)
        let table = try #require(text.firstRange(of: "| threat | what stands against it | held by |"))
        return text[table.upperBound...].split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2)
            .prefix { $0.hasPrefix("|") }
            .map { row in
                let columns = row.split(separator: "|")
                let tests = columns.last?.matches(of: /`([^`]+)`/).map { String($0.1) } ?? []
                return (columns.first.map { $0.trimmingCharacters(in: .whitespaces) } ?? "", tests)
            }
    }

    /// The sources of each suite, by its name: its declaration and its extensions.
    private static func suites() throws -> [String: String] {
        var suites: [String: String] = [:]
        for file in try Repository.swiftFiles(below: "Tests") {
            let text = try Repository.text(file)
            for match in text.matches(of: /\b(?:struct|class|enum|actor|extension) +([A-Z]\w*Tests)\b/) {
                suites[String(match.1), default: ""] += text
            }
        }
        return suites
    }

    @Test func `every threat names tests that are there`() throws {
        let (rows, suites) = (try Self.rows(), try Self.suites())
        #expect(rows.count > 20)
        for (threat, tests) in rows {
            #expect(!tests.isEmpty, "\(threat) is held by nothing")
            for test in tests {
                let parts = test.split(separator: "/", maxSplits: 1)
                try #require(parts.count == 2, "\(test) is no suite and test")
                let source = suites[String(parts[0])]
                let isThere = ["func `\(parts[1])`(", "func \(parts[1])("].contains { source?.contains($0) == true }
                #expect(isThere, "\(test) of the threat that \(threat)")
            }
        }
    }

    @Test func `no threat stands there twice`() throws {
        let threats = try Self.rows().map(\.threat)
        #expect(Set(threats).count == threats.count)
    }
}
