import Foundation
import KeyCustody
import OpenSSL
import Testing

struct MasterKeyTests {
    private let fixture: KeyFixture

    init() throws { fixture = try KeyFixture() }

    private func path(_ name: String = "master.key") -> String { fixture.folder.appending(path: name).path }

    private func write(_ text: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: path()))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path())
    }

    private func problem(_ body: () throws(SecretFileError) -> MasterKeys) -> String {
        do throws(SecretFileError) {
            return "read as \(try body().present.id)"
        } catch {
            #expect(error.path == path())
            return error.problem
        }
    }

    @Test func `an installation without one makes one, once, that only its owner can read`() throws {
        let made = try MasterKeyFile.loadOrMake(path())
        #expect(made.isNew)
        let status = try FileManager.default.attributesOfItem(atPath: path())
        #expect(status[.posixPermissions] as? Int == 0o600)
        let text = try String(contentsOfFile: path(), encoding: .utf8)
        #expect(text.wholeMatch(of: /[0-9a-f]{64}\n/) != nil)
        for _ in 0..<2 {
            let again = try MasterKeyFile.loadOrMake(path())
            #expect(!again.isNew && again.keys.present.id == made.keys.present.id)
        }
        #expect(try MasterKeyFile.load(path(), allowsGroupRead: false).present.id == made.keys.present.id)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == ["master.key"])
        #expect(!text.contains(made.keys.present.id), "the id is nothing of the key")
    }

    @Test func `however many start at once, they have one key`() async throws {
        let path = path()
        let ids = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
            for _ in 0..<16 {
                group.addTask {
                    let found = try MasterKeyFile.loadOrMake(path)
                    return (found.keys.present.id, found.isNew)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(ids.map(\.0)).count == 1)
        #expect(ids.count { $0.1 } == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == ["master.key"])
    }

    @Test func `what is there is never replaced, whatever it is`() throws {
        for text in ["", "0123", String(repeating: "g", count: 64), String(repeating: "a", count: 63) + "\n"] {
            try write(text)
            #expect(
                problem { () throws(SecretFileError) in try MasterKeyFile.loadOrMake(path()).keys }.contains(
                    "openssl rand -hex 32"))
            #expect(try String(contentsOfFile: path(), encoding: .utf8) == text)
        }
        try FileManager.default.removeItem(atPath: path())
        try FileManager.default.createSymbolicLink(atPath: path(), withDestinationPath: path("elsewhere"))
        #expect(!problem { () throws(SecretFileError) in try MasterKeyFile.loadOrMake(path()).keys }.hasPrefix("read"))
        #expect(!FileManager.default.fileExists(atPath: path("elsewhere")), "no link is followed to make one")
    }

    @Test func `a file is read as operators write it`() throws {
        let digits = String(repeating: "0aF9", count: 16)
        try write(digits)
        let plain = try MasterKeyFile.load(path(), allowsGroupRead: false)
        try write(digits.lowercased() + "\n")
        #expect(try MasterKeyFile.load(path(), allowsGroupRead: false).present.id == plain.present.id)
        try write(digits + "\n\n")
        #expect(
            problem { () throws(SecretFileError) in try MasterKeyFile.load(path(), allowsGroupRead: false) }.contains(
                "64 hexadecimal digits"))
        try write(String(repeating: "0", count: 2000))
        #expect(
            problem { () throws(SecretFileError) in try MasterKeyFile.load(path(), allowsGroupRead: false) }.contains(
                "larger than"))
    }

    @Test func `a file that others can read is refused with the chmod to run, a credential's group may`() throws {
        try write(String(repeating: "ab", count: 32), mode: 0o440)
        #expect(
            problem { () throws(SecretFileError) in try MasterKeyFile.load(path(), allowsGroupRead: false) }.contains(
                "chmod 0400"))
        #expect(
            problem { () throws(SecretFileError) in try MasterKeyFile.loadOrMake(path()).keys }.contains("chmod 0400"))
        #expect(
            problem { () throws(SecretFileError) in try MasterKeyFile.load(path(), allowsGroupRead: true) }.hasPrefix(
                "read as"))
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path())
        #expect(
            problem { () throws(SecretFileError) in try MasterKeyFile.load(path(), allowsGroupRead: true) }.contains(
                "chmod 0440"))
    }

    @Test func `a folder that cannot be written to is told`() throws {
        let missing = fixture.folder.appending(path: "none/master.key").path
        do {
            _ = try MasterKeyFile.loadOrMake(missing)
            Issue.record("made")
        } catch {
            #expect(error.problem.contains("No such file"))
        }
    }
}
