import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import purser

/// What scripts and service managers rely on: exit codes, and what goes to which output.
struct ProgramTests {
    /// Writes a configuration file and hands its path to the test.
    private func withConfiguration(_ yaml: String, _ body: (String) async throws -> Void) async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "purser-\(UUID().uuidString).yaml")
        try Data(yaml.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        try await body(url.path(percentEncoded: false))
    }

    @Test func theVersionIsPrinted() async throws {
        let outcome = try await Program.run(["version"])
        #expect(outcome.status == 0)
        #expect(
            outcome.output.wholeMatch(
                of: /purser \d+\.\d+\.\d+\n  commit (unknown|[0-9a-f]{40})\n(  [a-z]+ [0-9][0-9a-z.]*\n){4}/) != nil)
    }

    @Test func `every command says its name, so that no start searches the whole program for it`() {
        var commands: [any ParsableCommand.Type] = [Purser.self]
        var count = 0
        while let command = commands.popLast() {
            #expect(command.configuration.commandName != nil, "\(command)")
            commands += command.configuration.subcommands
            count += 1
        }
        #expect(count > 30)
    }

    @Test(arguments: [
        ["nonsense"], ["serve", "--nonsense"], ["callers", "hash", "prs_token"], ["callers", "issue-key", "shop"],
    ])
    func aWrongCommandLineIsAUsageError(arguments: [String]) async throws {
        let outcome = try await Program.run(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
    }

    @Test(arguments: [["config", "check"], ["serve", "--config"]])
    func aWrongConfigurationEndsWith78AndEveryProblemOnTheStandardError(arguments: [String]) async throws {
        try await withConfiguration("stoer: sqlite:/a\nlog: { level: loud }\n") { path in
            let outcome = try await Program.run(arguments + [path], environment: ["PURSER_NONSENSE": "1"])
            #expect(outcome.status == 78)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errorOutput.contains("\(path):1:1: stoer: Unknown key. Did you mean `store`?"))
            #expect(outcome.errorOutput.contains("\(path):2:15: log.level: "))
            #expect(outcome.errorOutput.contains("environment variable PURSER_NONSENSE: "))
        }
    }

    @Test func aFlagOfServeIsBlamedByName() async throws {
        try await withConfiguration("store: sqlite:/a\napple: { rootCertificates: [/a.cer] }\n") { path in
            let outcome = try await Program.run(["serve", "--config", path, "--log-level", "loud"])
            #expect(outcome.status == 78)
            #expect(outcome.errorOutput.contains("flag --log-level: log.level: "))
        }
    }

    @Test func aDaemonThatCannotStartSaysWhy() async throws {
        try await withConfiguration("store: sqlite:/a\napple: { rootCertificates: [/nowhere/a.cer] }\n") { path in
            let outcome = try await Program.run(["serve", "--config", path])
            #expect(outcome.status == 78)
            #expect(outcome.errorOutput.contains("/nowhere/a.cer"))
        }
    }

    @Test func aTokenIsHashedFromTheStandardInputAlone() async throws {
        let token = "prs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
        let hashed = try await Program.run(["callers", "hash", "--stdin"], input: token + "\n")
        #expect(hashed.status == 0)
        #expect(hashed.output.contains("tokenSHA256: \""))
        #expect(!hashed.output.contains(token))
        let refused = try await Program.run(["callers", "hash", "--stdin"], input: "short")
        #expect(refused.status == 1)
        #expect(refused.output.isEmpty)
    }

    @Test func aFreshTokenIsPrintedWithItsHash() async throws {
        let outcome = try await Program.run(["callers", "hash"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains(/\nprs_[0-9A-Za-z]{57}\n/))
        #expect(outcome.output.contains(/tokenSHA256: "[0-9a-f]{64}"/))
    }
}
