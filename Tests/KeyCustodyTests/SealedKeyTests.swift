import Domain
import Foundation
import KeyCustody
import Logging
import OpenSSL
import TestSupport
import Testing

/// Imported keys as the store keeps them, and the master key that they are sealed under.
struct SealedKeyTests {
    private let fixture: CustodianFixture
    private let mara = CustodianFixture.operatorActor

    init() throws { fixture = try CustodianFixture() }

    private func file(_ name: String, _ lines: [String]) throws -> MasterKeySource {
        let path = fixture.files.folder.appending(path: name).path
        try Data(lines.map { "\($0)\n" }.joined().utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return .file(path: path, allowsGroupRead: false)
    }

    private func imported(_ run: CustodianFixture.Run, _ ids: [String]) async throws {
        for id in ids { _ = try await run.custodian.importKey(try fixture.request(id), by: mara) }
    }

    @Test func `rows that are swapped do not open, and the error names the keys`() async throws {
        let run = try await fixture.start()
        try await imported(run, ["ONE", "TWO", "THREE"])
        let rows = try await fixture.store.sealedSecrets()
        let one = try #require(rows.first { $0.name == "ONE" })
        let two = try #require(rows.first { $0.name == "TWO" })
        for (name, record) in [("ONE", two), ("TWO", one)] {
            await fixture.store.forge(
                SealedSecretRecord(
                    kind: .signingKey, name: name, sealed: record.sealed, masterKeyID: record.masterKeyID,
                    createdAt: record.createdAt))
        }
        let again = try await fixture.start()
        let overview = await again.custodian.overview()
        let closed = overview.keys.filter { $0.facts.problem != nil }.map(\.facts.keyID).sorted()
        #expect(closed == ["ONE", "TWO"])
        #expect(
            overview.keys.first { $0.facts.keyID == "ONE" }?.facts.problem?.contains("key ONE does not open") == true)
        #expect(try await again.custodian.check("THREE", by: mara).passes, "the others serve")
    }

    @Test func `with another master key the keys that do not open are named, and the rest still serve`() async throws {
        let old = try fixture.files.key("OLD", apps: ["gems"]).declaration
        let first = try await fixture.start([old])
        try await imported(first, ["NEW"])
        _ = try await first.custodian.activate("NEW", apps: nil, unchecked: false, by: mara)
        let lost = try await fixture.start(
            [old], masterKey: try file("other", [String(repeating: "ab", count: 32)]))
        let key = try await lost.custodian.key("NEW")
        #expect(key.facts.problem?.contains("sealed under master key \(first.vault.masterKeyID)") == true)
        #expect(lost.ring.activeKeyID(for: CustodianFixture.coins) == nil)
        #expect(try await lost.active(CustodianFixture.gems) == "OLD")
        #expect(fixture.log.lines.contains { $0.metadata["key_id"] == "NEW" && $0.level == .error })
        let found = try await fixture.start([old])
        #expect(try await found.active() == "NEW", "nothing was lost but the key to it")
    }

    @Test func `another master key of the service's own takes over while keys sign`() async throws {
        let run = try await fixture.start()
        try await imported(run, ["ONE", "TWO"])
        _ = try await run.custodian.activate("ONE", apps: nil, unchecked: false, by: mara)
        let before = run.vault.masterKeyID
        let change = try await run.custodian.rewrap(by: mara)
        #expect(change.rewrapped == 2 && change.failures.isEmpty && change.fileToClean == nil)
        #expect(change.masterKeyID != before && run.vault.masterKeyID == change.masterKeyID)
        #expect(try await run.active() == "ONE")
        #expect(try await fixture.store.sealedSecrets().allSatisfy { $0.masterKeyID == change.masterKeyID })
        let text = try String(contentsOfFile: fixture.masterKey.path, encoding: .utf8)
        #expect(text.split(separator: "\n").count == 1, "the earlier key is gone")
        let again = try await fixture.start()
        #expect(try await again.active() == "ONE")
        #expect(again.vault.masterKeyID == change.masterKeyID)
        #expect(fixture.audit.acts(.masterKeyChanged).first?.details["rewrapped"] == "2")
    }

    @Test func `a start removes the drafts of secret files that a killed process left, and nothing else`() async throws
    {
        let run = try await fixture.start()
        let file = try sealedFile("chain", run.vault)
        let drafts = [fixture.masterKey.path, file.path].map { "\($0).new-\(UUID().uuidString)" }
        let others = ["\(fixture.masterKey.path).new-backup", "\(fixture.masterKey.path).old"]
        for path in drafts + others { try Data("a".utf8).write(to: URL(filePath: path)) }
        _ = try await fixture.start(sealedFiles: { _ in [file] })
        #expect(drafts.filter { FileManager.default.fileExists(atPath: $0) } == [])
        #expect(others.filter { FileManager.default.fileExists(atPath: $0) } == others)
    }

    @Test func `a change that fails midway loses nothing, and the next start ends it`() async throws {
        let run = try await fixture.start()
        try await imported(run, ["ONE"])
        _ = try await run.custodian.activate("ONE", apps: nil, unchecked: false, by: mara)
        let before = run.vault.masterKeyID
        await fixture.store.fail()
        await #expect(throws: ServiceError(.storeUnavailable, "")) { try await run.custodian.rewrap(by: mara) }
        await fixture.store.fail(false)
        #expect(try await run.active() == "ONE")
        let text = try String(contentsOfFile: fixture.masterKey.path, encoding: .utf8)
        #expect(text.split(separator: "\n").count == 2)
        #expect(try await fixture.store.sealedSecrets().map(\.masterKeyID) == [before])
        let again = try await fixture.start()
        #expect(try await again.active() == "ONE")
        #expect(try await fixture.store.sealedSecrets().map(\.masterKeyID) == [again.vault.masterKeyID])
        #expect(again.vault.masterKeyID != before)
        let cleaned = try String(contentsOfFile: fixture.masterKey.path, encoding: .utf8)
        #expect(cleaned.split(separator: "\n").count == 1)
    }

    @Test func `a change that fails is put on record, and so is its end at the next start`() async throws {
        let run = try await fixture.start()
        try await imported(run, ["ONE"])
        let before = run.vault.masterKeyID
        await fixture.store.fail()
        await #expect(throws: ServiceError(.storeUnavailable, "")) { try await run.custodian.rewrap(by: mara) }
        await fixture.store.fail(false)
        let failed = try #require(fixture.audit.acts(.masterKeyChanged).first)
        #expect(failed.actor == mara)
        #expect(failed.details == ["from": before, "to": run.vault.masterKeyID, "outcome": "failed"])
        _ = try await fixture.start()
        let ended = try #require(fixture.audit.acts(.masterKeyChanged).last)
        #expect(ended.actor == .daemon)
        #expect(ended.details == ["to": run.vault.masterKeyID, "rewrapped": "1", "failures": "0"])
        #expect(await fixture.store.overwritten == 1)
    }

    /// A file with a secret of its own, sealed under the vault's present master key.
    private func sealedFile(_ name: String, _ vault: SecretVault) throws -> SealedFile {
        let identity = SecretIdentity.installationSecret(name)
        let secret = try SecureBytes(count: 32) { $0.copyBytes(from: Array(repeating: 7, count: 32)) }
        let sealed = try vault.seal(secret, as: identity).bytes
        let path = fixture.files.folder.appending(path: name).path
        try SecretFile.create(SecureBytes(count: sealed.count) { $0.copyBytes(from: sealed) }, at: path)
        return SealedFile(path: path, identity: identity)
    }

    private func lines(_ path: String) throws -> Int {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count
    }

    @Test func `a master key that a file needs is kept, though the file does not say which it is`() async throws {
        let file = try sealedFile("chain", try SecretVault.open(fixture.masterKey).vault)
        // Nobody reads a secret that others can read.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let run = try await fixture.start(sealedFiles: { _ in [file] })
        let change = try await run.custodian.rewrap(by: mara)
        #expect(change.failures.count == 1 && change.failures[0].contains("chmod"))
        #expect(try lines(fixture.masterKey.path) == 2, "the earlier key stays")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let again = try await fixture.start(sealedFiles: { _ in [file] })
        #expect(try lines(fixture.masterKey.path) == 1)
        #expect(throws: Never.self) { try again.vault.open(file.read(), as: file.identity) }
    }

    @Test func `no master key is forgotten while the files that may need it cannot be listed`() async throws {
        let file = try sealedFile("chain", try SecretVault.open(fixture.masterKey).vault)
        let problem = SecretFileError(path: "audit", problem: "cannot be read")
        let run = try await fixture.start(sealedFiles: { _ in throw problem })
        #expect(try await run.custodian.rewrap(by: mara).failures == ["\(problem)"])
        #expect(try lines(fixture.masterKey.path) == 2)
        #expect(throws: Never.self) { try run.vault.open(file.read(), as: file.identity) }
    }

    @Test func `an operator is told to remove earlier keys only when nothing needs them`() async throws {
        let (old, new) = (String(repeating: "11", count: 32), String(repeating: "22", count: 32))
        let source = try file("master", [old])
        let file = try sealedFile("chain", try SecretVault.open(source).vault)
        let run = try await fixture.start(masterKey: source, sealedFiles: { _ in [file] })
        _ = try self.file("master", [new, old])
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let partly = try await run.custodian.rewrap(by: mara)
        #expect(partly.failures.count == 1 && partly.fileToClean == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let wholly = try await run.custodian.rewrap(by: mara)
        #expect(wholly.failures.isEmpty && wholly.fileToClean == source.path && wholly.rewrapped == 1)
    }

    @Test func `an operator's own key is put first in its file, and then everything is sealed under it`() async throws {
        let (old, new) = (String(repeating: "11", count: 32), String(repeating: "22", count: 32))
        let run = try await fixture.start(masterKey: try file("master", [old]))
        try await imported(run, ["ONE"])
        await #expect(throws: ServiceError(.keyUnavailable, "")) { try await run.custodian.rewrap(by: mara) }
        let source = try file("master", [new, old])
        let change = try await run.custodian.rewrap(by: mara)
        #expect(change.rewrapped == 1 && change.fileToClean == source.path)
        let again = try await fixture.start(masterKey: try file("master", [new]))
        #expect(try await again.custodian.check("ONE", by: mara).passes)
    }

    @Test func `a start with a new key before the old one opens everything, and a rewrap ends it`() async throws {
        let (old, new) = (String(repeating: "11", count: 32), String(repeating: "22", count: 32))
        let first = try await fixture.start(masterKey: try file("master", [old]))
        try await imported(first, ["ONE"])
        let second = try await fixture.start(masterKey: try file("master", [new, old]))
        #expect(try await second.custodian.check("ONE", by: mara).passes)
        #expect(try await second.custodian.rewrap(by: mara).rewrapped == 1)
        let third = try await fixture.start(masterKey: try file("master", [new]))
        #expect(try await third.custodian.check("ONE", by: mara).passes)
    }

    @Test func `nothing that is kept or logged holds a byte of a key`() async throws {
        let run = try await fixture.start()
        let request = try fixture.request("ONE")
        let text = request.text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        _ = try await run.custodian.importKey(request, by: mara)
        _ = try await run.custodian.activate("ONE", apps: nil, unchecked: false, by: mara)
        let body = text.split(separator: "\n").dropFirst().dropLast().joined()
        for start in stride(from: 0, to: body.count - 16, by: 8) {
            let piece = String(body.dropFirst(start).prefix(16))
            for record in try await fixture.store.sealedSecrets() {
                #expect(!String(decoding: record.sealed, as: UTF8.self).contains(piece))
            }
            #expect(!fixture.log.lines.contains { "\($0)".contains(piece) })
            #expect(!fixture.audit.acts.contains { "\($0)".contains(piece) })
        }
        #expect("\(request)".contains(text) == false)
    }
}
