import Daemon
import Domain
import Foundation
import OpenSSL
import Testing

/// The command `purser callers hash`.
struct CallersHashCommandTests {
    private func token(in outcome: CommandOutcome) throws -> String {
        try #require(outcome.output.split(separator: "\n").map(String.init).first { $0.hasPrefix("prs_") })
    }

    @Test func aTokenIsShownOnceWithTheDigestThatTheConfigurationTakes() throws {
        let outcome = CallersHashCommand.makeToken()
        #expect(outcome.status == .success)
        let token = try token(in: outcome)
        #expect(token.utf8.count == 61)
        #expect(token.wholeMatch(of: try Regex(OpaqueToken.pattern)) != nil)
        #expect(outcome.output.components(separatedBy: token).count == 2)
        let digest = try SHA256Digest.digest(Array(token.utf8))
        #expect(try callers(of: outcome).flatMap(\.configured.tokenDigests) == [digest])
    }

    @Test func twoTokensDiffer() throws {
        let tokens = try (0..<50).map { _ in try token(in: CallersHashCommand.makeToken()) }
        #expect(Set(tokens).count == tokens.count)
    }

    @Test(arguments: ["", "\n"])
    func aTokenFromTheStandardInputIsHashedWithoutItsLineEnd(end: String) throws {
        let token = "old_" + String(repeating: "x", count: 43)
        let outcome = CallersHashCommand.hash(input: token + end)
        #expect(outcome.status == .success)
        #expect(!outcome.output.contains(token))
        #expect(try callers(of: outcome).flatMap(\.configured.tokenDigests) == [SHA256Digest.digest(Array(token.utf8))])
    }

    @Test(arguments: [
        "", "short", String(repeating: "x", count: 31), String(repeating: "x", count: 1025),
        String(repeating: "x", count: 40) + "\n\n", String(repeating: "x", count: 40) + " ",
        String(repeating: "ü", count: 40), "prs_" + String(repeating: "x", count: 57),
    ])
    func whatIsNoTokenIsRefusedWithoutRepeatingIt(input: String) {
        let outcome = CallersHashCommand.hash(input: input)
        #expect(outcome.status == .failure)
        #expect(outcome.output.isEmpty)
        #expect(input.isEmpty || !outcome.errorOutput.contains(input))
    }

    /// What a configuration that takes the snippet over makes of it.
    private func callers(of outcome: CommandOutcome) throws -> [CallerConfiguration] {
        let snippet = outcome.output.split(separator: "\n").filter { $0.hasPrefix("  ") }.joined(separator: "\n")
        return try ConfigurationFixture.configuration(ConfigurationFixture.minimal + "callers:\n" + snippet).callers
    }
}
