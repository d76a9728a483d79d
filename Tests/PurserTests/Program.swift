import Foundation

/// Runs the program that was built beside the tests.
enum Program {
    /// How one run went.
    struct Outcome {
        let status: Int32
        let output: String
        let errorOutput: String
    }

    /// Runs `purser` to its end, with nothing in its environment but what is given.
    ///
    /// What it prints must fit into a pipe (64 KiB), since it is read after the end.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "purser")
        process.arguments = arguments
        process.environment = environment
        let (standardInput, standardOutput, standardError) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        process.standardError = standardError
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
                try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
                try standardInput.fileHandleForWriting.close()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return Outcome(
            status: process.terminationStatus,
            output: String(decoding: try standardOutput.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self),
            errorOutput: String(decoding: try standardError.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self))
    }
}
