import Domain
import Foundation
import TestSupport
import Testing

@testable import AuditLog

struct AuditWriterTests {
    @Test func `a record is on the disk when it has been made, with all that the act says`() async throws {
        let fixture = try AuditFixture()
        let audit = try fixture.open()
        let act = AuditAct(
            .keyImported, by: .operator(uid: 1000, claimedName: "eve \"x\"\n"), app: "coins", keyID: "ABCDEFGHIJ",
            caller: "shop", pseudonym: "p1", tokenDigest: [UInt8](repeating: 0xAB, count: 32),
            details: ["b": "2", "a": "1"])
        try await audit.record(act)
        let record = try #require(try fixture.records().last)
        #expect(record.sequence == 2 && record.action == "keyImported")
        #expect(record.actor == "operator:1000" && record.claimedName == "eve \"x\"\n")
        #expect(record.app == "coins" && record.keyID == "ABCDEFGHIJ" && record.caller == "shop")
        #expect(record.pseudonym == "p1" && record.tokenDigest == String(repeating: "ab", count: 32))
        #expect(record.details == ["a": "1", "b": "2"])
        #expect(record.at == fixture.now)
        #expect(record.before == (try fixture.records().first?.code))
        #expect(audit.status.head?.sequence == 2 && audit.status.head?.code == record.code)
        let mode = try FileManager.default.attributesOfItem(atPath: fixture.path(1))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let folderMode = try FileManager.default.attributesOfItem(atPath: fixture.directory.path)[.posixPermissions]
        #expect(folderMode as? Int == 0o700)
    }

    @Test func `many acts at once share a few waits for the disk`() async throws {
        let fixture = try AuditFixture()
        let audit = try fixture.open()
        let before = fixture.synchronizations
        try await withThrowingTaskGroup { group in
            for number in 0..<500 { group.addTask { try await audit.record(.sample(number)) } }
            try await group.waitForAll()
        }
        #expect(try fixture.acts().count == 500)
        let numbers = try fixture.records().map(\.sequence)
        #expect(numbers == Array(1...501))
        #expect(fixture.synchronizations - before < 400)
    }

    @Test func `chains are listed by their keys; a directory that cannot be read has unknown ones, a missing one none`()
        throws
    {
        let fixture = try AuditFixture()
        #expect(try fixture.directory.chainsWithKeys() == [])
        try fixture.directory.prepare()
        for chain in ["b", "a"] {
            try Data().write(to: URL(filePath: fixture.directory.keyPath(chain: chain)))
        }
        #expect(try fixture.directory.chainsWithKeys() == ["a", "b"])
        let file = fixture.directory.keyPath(chain: "a")
        #expect(throws: AuditFileError.self) { try AuditDirectory(file).chainsWithKeys() }
        #expect(throws: AuditFileError.self) { try AuditDirectory("\(file)/below").chainsWithKeys() }
    }

    @Test func `a restart goes on with the chain`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        try await first.record(.sample(1))
        let head = try #require(first.status.head)
        await first.close()
        let second = try fixture.open()
        #expect(second.status.head == head)
        try await second.record(.sample(2))
        let records = try fixture.records()
        #expect(records.map(\.sequence) == [1, 2, 3] && records[2].before == head.code)
        #expect(fixture.log.lines("The audit begins").count == 1)
    }
}
