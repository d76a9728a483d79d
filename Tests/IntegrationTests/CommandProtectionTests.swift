import Foundation
import TestSupport
import Testing

/// Commands hold keys too, if only for a moment: each is protected before it does anything.
struct CommandProtectionTests {
    /// Starts a command that waits for its configuration, and tells the highest limit that its core dumps could be given.
    private func coreLimit(of arguments: [String]) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-protection-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Whoever opens it waits for somebody who writes.
        let pipe = folder.appending(path: "pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser")
        let command = try ChildProcess([program.path] + arguments + [pipe])
        defer { command.kill() }
        let limit = try await Wait.value("the command to be at its work") {
            let opened = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            try #require(command.status == nil, "it ended before it read anything")
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

    @Test(arguments: [
        ["config", "check"], ["doctor", "--config"], ["callers", "issue-key", "shop", "--app", "coins", "--config"],
        ["serve", "--config"],
    ])
    func `commands that read keys, make one or serve leave no core`(arguments: [String]) async throws {
        #expect(try await coreLimit(of: arguments) == "0 0 bytes")
    }
}
