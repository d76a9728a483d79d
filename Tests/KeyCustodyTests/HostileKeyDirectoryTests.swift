import Domain
import Foundation
import OpenSSL
import TestSupport
import Testing

@testable import KeyCustody

/// Key directories into which others have put something.
@Suite(.endsHangs)
struct HostileKeyDirectoryTests {
    private let fixture: CustodianFixture
    private let folder: URL

    init() throws {
        fixture = try CustodianFixture()
        folder = fixture.files.folder.appending(path: "keys")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    private var directory: KeyDirectory {
        KeyDirectory(path: folder.path, issuerID: CustodianFixture.issuer, apps: ["coins"], allowsGroupRead: false)
    }

    private func write(_ name: String) throws {
        let file = folder.appending(path: name)
        let text = try ECPrivateKey.generate().pkcs8PEM().withUnsafeBytes { Data($0) }
        try text.write(to: file)
        #expect(chmod(file.path, 0o600) == 0)
    }

    /// An empty file with a name of any bytes.
    private func create(_ name: [UInt8]) {
        let path = Array(folder.path.utf8) + [UInt8(ascii: "/")] + name + [0]
        let descriptor = path.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                characters.baseAddress.map { open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) } ?? -1
            }
        }
        #expect(descriptor >= 0)
        close(descriptor)
    }

    private func keys(_ run: CustodianFixture.Run) -> [String] { run.ring.statuses.map(\.keyID).sorted() }

    @Test func `no key is taken from a directory that others can write, until they cannot`() async throws {
        try write("AAA.p8")
        #expect(chmod(folder.path, 0o777) == 0)
        let run = try await fixture.start([], directories: [directory])
        #expect(keys(run).isEmpty)
        let problems = await run.custodian.overview().directoryProblems
        #expect(problems.count == 1 && problems.first?.contains("chmod go-w \(folder.path)") == true, "\(problems)")
        #expect(KeyDirectory.problems(of: [directory], declared: []) == problems, "config check says the same")
        #expect(chmod(folder.path, 0o755) == 0)
        await run.custodian.lookAtDirectories()
        #expect(keys(run) == ["AAA"])
        #expect(await run.custodian.overview().directoryProblems.isEmpty)
    }

    @Test func `keys go on signing when others get to write their directory, and no other key comes`() async throws {
        try write("AAA.p8")
        let run = try await fixture.start([], directories: [directory])
        #expect(chmod(folder.path, 0o777) == 0)
        try write("BBB.p8")
        try write("AAA.p8")
        let before = await run.custodian.overview().keys.map(\.facts.fingerprint)
        await run.custodian.lookAtDirectories()
        #expect(keys(run) == ["AAA"])
        #expect(try await run.active() == "AAA")
        #expect(await run.custodian.overview().keys.map(\.facts.fingerprint) == before, "the replaced file is not read")
    }

    @Test func `names of files are shown without what could command a terminal, and shortened`() async throws {
        let names: [[UInt8]] = [
            Array("a\nlevel=error forged\u{1B}[2J.p8".utf8), Array("\u{202E}gnp.p8".utf8), Array("\u{9B}31m.p8".utf8),
            [0xFF, 0xFE, 0x80] + Array(".p8".utf8), Array(String(repeating: "x", count: 200).utf8) + Array(".p8".utf8),
            Array("Auth\u{212A}ey_KELVIN.p8".utf8),
        ]
        for name in names { create(name) }
        let run = try await fixture.start([], directories: [directory])
        #expect(keys(run).isEmpty)
        let problems = await run.custodian.overview().directoryProblems
        #expect(problems.count == names.count)
        for problem in problems {
            #expect(problem.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 >= 0x80 }, "\(problem)")
            #expect(problem.unicodeScalars.allSatisfy { $0.isASCII || $0 == "…" }, "\(problem)")
            #expect(problem.utf8.count < folder.path.utf8.count + 256)
        }
        #expect(problems.contains { $0.contains(#""a\nlevel=error forged\u{1B}[2J.p8""#) }, "\(problems)")
    }

    @Test func `a pipe in the directory is a problem and keeps nobody waiting`() async throws {
        try write("AAA.p8")
        #expect(mkfifo(folder.appending(path: "PIPE.p8").path, 0o600) == 0)
        let run = try await fixture.start([], directories: [directory])
        #expect(keys(run) == ["AAA"])
        #expect(
            await run.custodian.overview().directoryProblems == ["\(folder.path)/PIPE.p8: is not a regular file"])
    }
}
