import Foundation
import OpenSSL
import TestSupport
import Testing

@testable import KeyCustody

/// Who may own files with secrets, and who may write the directories in which they are.
@Suite(.endsHangs)
struct SecretFileTests {
    /// A user that the tests do not run as.
    private static let stranger: UInt32 = geteuid() == 4242 ? 4243 : 4242
    /// Only root can give a file to another user.
    private static let isRoot = geteuid() == 0

    private let fixture: KeyFixture

    init() throws { fixture = try KeyFixture() }

    private func path(_ name: String) -> String { fixture.folder.appending(path: name).path }

    /// A directory with a file that its owner alone can read; the directory has exactly these permissions.
    private func file(in folder: String, mode: Int, name: String = "key.p8", fileMode: Int = 0o400) throws -> String {
        try FileManager.default.createDirectory(atPath: path(folder), withIntermediateDirectories: false)
        let file = "\(path(folder))/\(name)"
        try Data("secret".utf8).write(to: URL(filePath: file))
        #expect(chmod(file, mode_t(fileMode)) == 0)
        #expect(chmod(path(folder), mode_t(mode)) == 0)
        return file
    }

    private func fault(
        _ path: String, group: Bool = false, _ owners: SecretFileOwners = SecretFileOwners()
    ) -> String? {
        SecretFile.permissionProblem(path, allowsGroupRead: group, owners: owners)
    }

    @Test(.enabled(if: isRoot))
    func `a file of another user is refused with the chown to run, unless the configuration names the user`() throws {
        let file = try file(in: "keys", mode: 0o700)
        #expect(chown(file, Self.stranger, getegid()) == 0)
        let problem = try #require(fault(file))
        #expect(problem.contains("belongs to user \(Self.stranger)"))
        #expect(problem.contains("chown \(geteuid()) \(file)") && problem.contains("`secretFiles.allowedOwners`"))
        let allowed = SecretFileOwners(allowed: [Self.stranger])
        #expect(fault(file, allowed) == nil)
        #expect(try SecretFile.read(file, allowsGroupRead: false, owners: allowed, maximumBytes: 10).count == 6)
        #expect(throws: SecretFileError.self) {
            try SecretFile.read(file, allowsGroupRead: false, owners: SecretFileOwners(), maximumBytes: 10)
        }
    }

    @Test(.enabled(if: isRoot))
    func `files and directories of root, of Purser's user and of no other are accepted`() throws {
        let file = try file(in: "keys", mode: 0o755)
        let owners = SecretFileOwners(user: Self.stranger)
        #expect(fault(file, owners) == nil, "root's")
        #expect(chown(file, Self.stranger, getegid()) == 0)
        #expect(chown(path("keys"), Self.stranger, getegid()) == 0)
        #expect(fault(file, owners) == nil, "of Purser's user")
        #expect(chown(file, 0, getegid()) == 0)
        #expect(fault(file)?.contains("the directory \(path("keys")) belongs to user \(Self.stranger)") == true)
    }

    @Test(arguments: [0o777, 0o757, 0o702, 0o770, 0o720, 0o775])
    func `a file in a directory that others can write is refused with the chmod to run`(mode: Int) throws {
        let file = try file(in: "keys", mode: mode)
        let problem = try #require(fault(file))
        #expect(problem.contains("chmod go-w \(path("keys"))"), "\(problem)")
        #expect(problem.contains("permissions 0\(String(mode, radix: 8))"), "\(problem)")
    }

    @Test(arguments: [0o700, 0o755, 0o711, 0o500, 0o550])
    func `a file in a directory that only its owner can write is accepted`(mode: Int) throws {
        #expect(fault(try file(in: "keys", mode: mode)) == nil)
    }

    @Test func `a file whose owner is checked elsewhere is still refused where everybody can replace it`() throws {
        let everybody = try file(in: "open", mode: 0o777)
        #expect(throws: SecretFileError.self) {
            try SecretFile.read(everybody, allowsGroupRead: false, maximumBytes: 10)
        }
        let group = try file(in: "group", mode: 0o2775)
        #expect(throws: Never.self) { try SecretFile.read(group, allowsGroupRead: false, maximumBytes: 10) }
    }

    @Test(.enabled(if: isRoot), arguments: [0o1777, 0o3777])
    func `a secret that Kubernetes mounts is accepted`(mode: Int) throws {
        // A tmpfs, a directory for each version, and links; fsGroup makes the files 0440.
        let version = try file(
            in: "..2026_01_31_10_00_00.123", mode: 0o755, name: "AuthKey_X.p8", fileMode: 0o440)
        let mount = path("mount")
        try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: false)
        let name = "..2026_01_31_10_00_00.123"
        try FileManager.default.moveItem(atPath: path(name), toPath: "\(mount)/\(name)")
        try FileManager.default.createSymbolicLink(atPath: "\(mount)/..data", withDestinationPath: name)
        try FileManager.default.createSymbolicLink(
            atPath: "\(mount)/AuthKey_X.p8", withDestinationPath: "..data/AuthKey_X.p8")
        #expect(chmod(mount, mode_t(mode)) == 0)
        let pod = SecretFileOwners(user: Self.stranger)
        #expect(fault("\(mount)/AuthKey_X.p8", group: true, pod) == nil, "\(version)")
        // In such a directory every user can add a link of their own.
        #expect(lchown("\(mount)/AuthKey_X.p8", Self.stranger + 1, 0) == 0)
        #expect(fault("\(mount)/AuthKey_X.p8", group: true, pod)?.contains("symbolic link belongs to user") == true)
    }

    @Test(.enabled(if: isRoot)) func `the sticky bit helps no directory of another user`() throws {
        let file = try file(in: "keys", mode: 0o1777)
        #expect(fault(file) == nil)
        #expect(chown(path("keys"), Self.stranger, getegid()) == 0)
        #expect(fault(file, SecretFileOwners(allowed: [Self.stranger])) != nil)
    }

    @Test func `a link into a directory that others can write is refused`() throws {
        let target = try file(in: "open", mode: 0o777)
        let link = path("key.p8")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        #expect(fault(link)?.contains("chmod go-w \(path("open"))") == true)
        #expect(chmod(path("open"), 0o755) == 0)
        #expect(fault(link) == nil)
    }

    @Test func `a pipe, a socket, a folder and a device are no secret files, and nothing waits for them`() throws {
        #expect(mkfifo(path("pipe"), 0o400) == 0)
        try FileManager.default.createDirectory(atPath: path("folder"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: path("device"), withDestinationPath: "/dev/null")
        for name in ["pipe", "folder", "device"] {
            #expect(fault(path(name)) == "is not a regular file", "\(name)")
        }
    }

    @Test(.enabled(if: isRoot)) func `the master key's file is checked as the keys' files are`() throws {
        let file = try file(in: "keys", mode: 0o775)
        let source = MasterKeySource.file(path: file, allowsGroupRead: false)
        #expect(throws: SecretFileError.self) { try source.check(owners: SecretFileOwners()) }
        // A volume with the state, as Kubernetes makes it by fsGroup.
        #expect(throws: Never.self) { try MasterKeySource.made(path: file).check(owners: SecretFileOwners()) }
        #expect(chmod(path("keys"), 0o755) == 0)
        #expect(throws: Never.self) { try source.check(owners: SecretFileOwners()) }
        #expect(chown(file, Self.stranger, 0) == 0)
        #expect(throws: SecretFileError.self) { try source.check(owners: SecretFileOwners()) }
        #expect(throws: Never.self) { try source.check(owners: SecretFileOwners(allowed: [Self.stranger])) }
        #expect(throws: Never.self) { try MasterKeySource.made(path: path("none")).check(owners: SecretFileOwners()) }
    }
}
