import Domain
import Foundation
import KeyCustody
import OpenSSL
import Testing

struct SecretVaultTests {
    private let fixture: KeyFixture
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    init() throws { fixture = try KeyFixture() }

    private func secret(_ text: String) throws -> SecureBytes {
        try SecureBytes(count: text.utf8.count) { $0.copyBytes(from: Array(text.utf8)) }
    }

    private func text(_ secret: SecureBytes) -> String {
        secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func path(_ name: String = "purser.masterkey") -> String { fixture.folder.appending(path: name).path }

    @Test func `what one start has sealed the next one opens, with no more than the file`() throws {
        let (first, isNew) = try SecretVault.open(.made(path: path()))
        #expect(isNew)
        let record = try first.seal(secret("hash"), installationSecret: "tombstones", at: now)
        #expect(record.kind == .installation && record.name == "tombstones" && record.createdAt == now)
        #expect(record.masterKeyID == first.masterKeyID)
        let (second, isNewAgain) = try SecretVault.open(.made(path: path()))
        #expect(!isNewAgain && second.masterKeyID == first.masterKeyID)
        #expect(try text(second.open(installationSecret: record)) == "hash")
    }

    @Test func `a secret opens under its own name alone`() throws {
        let vault = try SecretVault.open(.made(path: path())).vault
        let record = try vault.seal(secret("hash"), installationSecret: "tombstones", at: now)
        let renamed = SealedSecretRecord(
            kind: .installation, name: "pageToken", sealed: record.sealed, masterKeyID: record.masterKeyID,
            createdAt: now)
        #expect(throws: SealingError.self) { try vault.open(installationSecret: renamed) }
        let key = SecretIdentity.signingKey("tombstones", issuerID: "", apps: [])
        #expect(throws: SealingError.self) { try vault.open(SealedSecret(bytes: record.sealed), as: key) }
    }

    @Test func `earlier keys of a file open, the present one alone seals`() throws {
        let old = try SecretVault.open(.made(path: path("old"))).vault
        let record = try old.seal(secret("hash"), installationSecret: "tombstones", at: now)
        let new = try SecretVault.open(.made(path: path("new"))).vault
        #expect(throws: SealingError.self) { try new.open(installationSecret: record) }
        let lines = try ["new", "old"].map { try String(contentsOfFile: path($0), encoding: .utf8) }
        try Data(lines.joined().utf8).write(to: URL(filePath: path("both")))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("both"))
        let both = try SecretVault.open(.file(path: path("both"), allowsGroupRead: false)).vault
        #expect(both.masterKeyID == new.masterKeyID)
        #expect(try text(both.open(installationSecret: record)) == "hash")
        let anew = try both.rewrapped(SealedSecret(bytes: record.sealed), as: .installationSecret("tombstones"))
        #expect(try text(new.open(anew, as: .installationSecret("tombstones"))) == "hash")
    }

    @Test func `a file holds four keys at most, each a line of its own`() throws {
        let line = String(repeating: "0aF9", count: 16) + "\n"
        for (content, problem) in [
            (String(repeating: line, count: 5), "more than 4"), (line + "\n" + line, "64 hexadecimal digits"),
            ("\n" + line, "64 hexadecimal digits"), (line + " " + line, "64 hexadecimal digits"),
        ] {
            try Data(content.utf8).write(to: URL(filePath: path("many")))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("many"))
            do throws(SecretFileError) {
                _ = try SecretVault.open(.file(path: path("many"), allowsGroupRead: false))
                Issue.record("opened: \(content.count) bytes")
            } catch {
                #expect(error.problem.contains(problem))
            }
        }
    }
}
