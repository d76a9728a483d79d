import Foundation
import TestSupport

/// Runs the program that was built beside the tests.
enum Program {
    /// How one run went.
    struct Outcome {
        let status: Int32
        let output: String
        let errorOutput: String
    }

    /// Closes every descriptor but the standard three, then becomes the program.
    ///
    /// Without it a child inherits the sockets and pipes of tests that run beside it, whose other ends then never close.
    private static let launcher =
        "for path in /proc/self/fd/*; do n=${path##*/}; if [ $n -gt 2 ]; then eval \"exec $n>&-\"; fi; done; exec \"$@\""

    /// Runs `purser` to its end, with nothing in its environment but what is given.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["input", "output", "error"].map { folder.appending(path: $0) }
        try Data(input.utf8).write(to: files[0])
        for file in files.dropFirst() { try Data().write(to: file) }
        let process = Process()
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser")
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", launcher, "launcher", program.path] + arguments
        process.environment = environment
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        do {
            try await Wait.bounding("`purser \(arguments.joined(separator: " "))` to end") { for await _ in ended {} }
        } catch {
            kill(process.processIdentifier, SIGKILL)
            throw error
        }
        return Outcome(
            status: process.terminationStatus, output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
            errorOutput: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }
}
