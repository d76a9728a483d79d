import Foundation
import TestSupport

/// Runs the program that was built beside the tests.
enum Program {
    /// Runs `purser` to its end, with nothing in its environment but what is given.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> ChildProcess.Outcome {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser")
        return try await ChildProcess.run([program.path] + arguments, environment: environment, input: input)
    }
}
