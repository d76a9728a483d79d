import Foundation
import TestSupport
import Testing

/// Commands hold keys too, if only for a moment: each is protected before it does anything.
struct CommandProtectionTests {
    /// Starts a command that waits to be let go, and tells the highest limit that its core dumps could be given.
    private func coreLimit(of arguments: (_ folder: URL, _ waits: String) throws -> [String]) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-protection-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Whoever opens it waits for somebody who writes.
        let pipe = folder.appending(path: "pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser")
        let command = try ChildProcess([program.path] + arguments(folder, pipe))
        defer { command.kill() }
        let limit = try await Wait.value("the command to be at its work") {
            let opened = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            // Nobody reads yet.
            guard opened >= 0 else { return String?.none }
            defer { close(opened) }
            let limits = try String(contentsOfFile: "/proc/\(command.processID)/limits", encoding: .utf8)
            let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
            return line.split(separator: " ").dropFirst(4).joined(separator: " ")
        }
        _ = try await command.ended
        return limit
    }

    @Test func `checking a configuration, which reads every key, leaves no core`() async throws {
        let limit = try await coreLimit { folder, pipe in
            let file = folder.appending(path: "purser.yaml").path
            try "store: sqlite:/a\napple: { rootCertificates: [\(pipe)] }\n"
                .write(toFile: file, atomically: true, encoding: .utf8)
            return ["config", "check", file]
        }
        #expect(limit == "0 0 bytes")
    }

    @Test(arguments: [
        ["doctor", "--config"], ["callers", "issue-key", "shop", "--app", "coins", "--config"], ["serve", "--config"],
    ])
    func `neither do examining the keys, making one, and serving`(arguments: [String]) async throws {
        #expect(try await coreLimit { _, pipe in arguments + [pipe] } == "0 0 bytes")
    }
}
