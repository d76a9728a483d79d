import Foundation
import TestSupport
import Testing

/// The commands that work with the store, as an operator types them; no daemon runs.
struct StoreProgramTests {
    /// A folder with a configuration whose store and admin socket are in it.
    private func withFolder(_ body: (_ folder: URL, _ configuration: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "purser.yaml")
        let yaml = """
            store: sqlite:\(folder.path)/purser.db
            apple: { rootCertificates: [/a.cer] }
            listeners: { admin: { address: "unix:\(folder.path)/admin.sock" } }

            """
        try Data(yaml.utf8).write(to: file)
        try await body(folder, file.path)
    }

    @Test(arguments: [
        ["backup"], ["restore"], ["store"], ["store", "check", "--nonsense"], ["deliveries", "release", "now"],
        ["import", "links"], ["import", "links", "-", "--batch", "1001"], ["import", "links", "-", "--from", "0"],
        ["import", "receipts", "-", "--batch", "101"], ["store", "move", "--from", "/a"],
        ["store", "move", "--from", "/a", "--to", "sqlite:/b"],
        ["store", "move", "--from", "postgres://a@b/c", "--to", "postgres://a@b/d"],
    ])
    func `a wrong command line is a usage error or an explanation`(arguments: [String]) async throws {
        let outcome = try await Program.run(arguments)
        #expect(outcome.status == (arguments == ["store"] ? 0 : 64))
    }

    @Test func `a backup and a release need the daemon, and say so`() async throws {
        try await withFolder { folder, configuration in
            let copy = folder.appending(path: "copy.db").path
            for arguments in [["backup", copy], ["deliveries", "release"]] {
                let outcome = try await Program.run(arguments + ["--config", configuration])
                #expect(outcome.status == 1)
                #expect(outcome.output.isEmpty)
                #expect(outcome.errorOutput.hasPrefix("No daemon answers at unix:\(folder.path)/admin.sock"))
            }
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
    }

    @Test(arguments: [
        ["backup", "/tmp/a"], ["restore", "/tmp/a"], ["store", "check"], ["deliveries", "release"],
        ["store", "move", "--from", "/tmp/a", "--to", "postgres://a@b/c"],
    ])
    func `a configuration that cannot be read ends with 78`(arguments: [String]) async throws {
        let outcome = try await Program.run(arguments + ["--config", "/nowhere.yaml"])
        #expect(outcome.status == 78)
        #expect(outcome.errorOutput.contains("/nowhere.yaml"))
    }

    @Test func `what is no backup is not restored, and what is not there is not examined`() async throws {
        try await withFolder { folder, configuration in
            let backup = folder.appending(path: "backup.db")
            try Data("no database".utf8).write(to: backup)
            let restored = try await Program.run(["restore", backup.path, "--config", configuration])
            #expect(restored.status == 1)
            #expect(restored.errorOutput.contains(backup.path))
            let examined = try await Program.run(["store", "check", "--config", configuration])
            #expect(examined.status == 1)
            #expect(examined.errorOutput.contains("\(folder.path)/purser.db"))
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!left.contains("purser.db"))
        }
    }
}
