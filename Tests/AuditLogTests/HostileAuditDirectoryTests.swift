import Foundation
import TestSupport
import Testing

@testable import AuditLog

/// What is in the audit's directory and is no file: it is named, and nothing waits for it.
@Suite(.endsHangs)
struct HostileAuditDirectoryTests {
    private func log() async throws -> AuditFixture {
        let fixture = try AuditFixture()
        let audit = try fixture.open()
        try await audit.record(.sample(1))
        await audit.close()
        return fixture
    }

    private func findings(_ fixture: AuditFixture) throws -> [String] {
        var verifier = AuditVerifier(directory: fixture.directory, keys: fixture.keys)
        return try verifier.verify().findings.map(\.description)
    }

    @Test func `a pipe in the place of a segment is named by verify and stops the start`() async throws {
        let fixture = try await log()
        #expect(mkfifo(fixture.path(2), 0o600) == 0)
        #expect(
            try findings(fixture) == [
                #"inserted: "00000002.jsonl" is a named pipe and not a regular file; it was not read."#
            ])
        let error = #expect(throws: AuditFileError.self) { try fixture.open() }
        #expect(error?.path == fixture.path(2) && error?.problem.hasPrefix("is a named pipe") == true)
        #expect(error?.isOfDisk == false)
        #expect(throws: AuditFileError.self) {
            try AuditReader(directory: fixture.directory).read(AuditQuery()) { _, _ in }
        }
        #expect(unlink(fixture.path(2)) == 0)
        #expect(try findings(fixture) == [])
        await (try fixture.open()).close()
    }

    @Test func `links, folders in the place of segments and names that command a terminal are named`() async throws {
        let fixture = try await log()
        let folder = fixture.directory.path
        try FileManager.default.createSymbolicLink(atPath: fixture.path(2), withDestinationPath: "/dev/zero")
        try FileManager.default.createDirectory(atPath: fixture.path(3), withIntermediateDirectories: false)
        // A file system of its own has such a folder.
        try FileManager.default.createDirectory(atPath: "\(folder)/lost+found", withIntermediateDirectories: false)
        #expect(mkfifo("\(folder)/x\n\u{1B}[2J\u{202E}.key", 0o600) == 0)
        #expect(
            Set(try findings(fixture)) == [
                #"inserted: "00000002.jsonl" is a symbolic link and not a regular file; it was not read."#,
                #"inserted: "00000003.jsonl" is a directory and not a regular file; it was not read."#,
                #"inserted: "x\n\u{1B}[2J\u{202E}.key" is a named pipe and not a regular file; it was not read."#,
            ])
        #expect(try fixture.directory.chainsWithKeys() == [])
    }

    @Test func `a pipe in the place of the lock or the reserve keeps nobody waiting`() async throws {
        let fixture = try await log()
        #expect(unlink("\(fixture.directory.path)/lock") == 0)
        #expect(mkfifo("\(fixture.directory.path)/lock", 0o600) == 0)
        #expect(throws: AuditFileError.self) { try fixture.open() }
        #expect(unlink("\(fixture.directory.path)/lock") == 0)
        #expect(unlink(fixture.reservePath) == 0)
        #expect(mkfifo(fixture.reservePath, 0o600) == 0)
        let audit = try fixture.open()
        #expect(!fixture.log.lines("no reserve").isEmpty)
        await audit.close()
    }
}
