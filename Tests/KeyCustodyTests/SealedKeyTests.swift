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
