import Foundation
import TestSupport
import Testing

/// How commands reach the daemon's socket, as an operator meets it.
struct OperatorProgramTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        // Others may look into it.
        let folder = FileManager.default.temporaryDirectory.appending(path: "operator-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test(arguments: ["config check", "callers list", "deliveries release", "serve"])
    func `operators over TCP end every command with 78 and a note of what to write instead`(command: String)
        async throws
    {
        try await withFolder { folder in
            let file = folder.appending(path: "purser.yaml")
            let yaml = """
                store: sqlite:\(folder.path)/purser.db
                apple: { rootCertificates: [/a.cer] }
                listeners: { admin: { address: "127.0.0.1:8082" } }

                """
            try Data(yaml.utf8).write(to: file)
            let arguments = command.split(separator: " ").map(String.init)
            let outcome = try await Program.run(
                arguments + (command == "config check" ? [file.path] : ["--config", file.path]))
            #expect(outcome.status == 78)
            #expect(outcome.errorOutput.contains("purser.yaml:3"))
            #expect(outcome.errorOutput.contains(/address: \\?"unix:\/run\/purser\/admin.sock/))
        }
    }

    @Test func `a socket that is not there, or at which nobody listens, is named`() async throws {
        try await withFolder { folder in
            let absent = folder.appending(path: "absent.sock").path
            let outcome = try await Program.run(["callers", "list", "--socket", absent])
            #expect(outcome.status == 1)
            #expect(outcome.errorOutput.hasPrefix("No daemon answers at unix:\(absent); start it"))
            let left = folder.appending(path: "left.sock").path
            _ = try await bound(left)
            let other = try await Program.run(["callers", "list", "--socket", left])
            #expect(other.status == 1)
            #expect(other.errorOutput.hasPrefix("No daemon answers at unix:\(left); start it"))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func `a socket that its permissions close to a user says so, with that user's id`() async throws {
        try await withFolder { folder in
            let socket = folder.appending(path: "admin.sock").path
            #expect(try await bound(socket) == 0)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: socket)
            // Where the build is may be closed to others.
            let program = folder.appending(path: "purser")
            try FileManager.default.copyItem(
                at: URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser"),
                to: program)
            let outcome = try await ChildProcess.run([
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program.path, "callers", "list",
                "--socket", socket,
            ])
            #expect(outcome.status == 1)
            #expect(outcome.errorOutput.hasPrefix("\(socket) is not open to this user (uid 65534); run this as root"))
        }
    }

    @Test(arguments: ["", "a b", "operator:0", String(repeating: "a", count: 65)])
    func `a name that is none is a usage error`(name: String) async throws {
        let outcome = try await Program.run(["callers", "list", "--socket", "/nowhere.sock", "--as", name])
        #expect(outcome.status == 64)
        #expect(outcome.errorOutput.contains("--as takes 1 to 64"))
    }

    /// Leaves a socket's file behind, as a process does that was killed.
    private func bound(_ path: String) async throws -> Int32 {
        try await ChildProcess.run([
            "/usr/bin/python3", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path,
        ]).status
    }
}
