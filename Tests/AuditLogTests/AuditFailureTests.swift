import Domain
import Foundation
import TestSupport
import Testing

@testable import AuditLog

/// A disk that takes nothing: what needs a record does not happen, what has happened is owed, and nothing is lost.
struct AuditFailureTests {
    private let unavailable = ServiceError(.auditUnavailable, "")

    private func isSound(_ fixture: AuditFixture) throws -> Bool {
        var verifier = AuditVerifier(directory: fixture.directory, keys: fixture.keys)
        return try verifier.verify().findings.isEmpty
    }

    @Test func `without a record nothing is handed out, and the log goes on when it can`() async throws {
        let fixture = try AuditFixture()
        let audit = try fixture.open()
        try await audit.record(.sample(1))
        fixture.disk.fail("audit")
        for number in 2...4 {
            await #expect(throws: unavailable) { try await audit.record(.sample(number)) }
        }
        #expect(audit.status.problem?.contains("No space left") == true && audit.status.owed == 0)
        #expect(fixture.log.lines("The audit cannot be written").count == 1, "told once")
        fixture.disk.fail(nil)
        try await audit.record(.sample(5))
        #expect(audit.status.problem == nil)
        #expect(try fixture.acts().count == 2 && isSound(fixture))
        #expect(try fixture.records().map(\.action).contains("writingResumed"))
    }

    @Test func `what has happened is owed, kept in the reserve, and written when the log can be`() async throws {
        let fixture = try AuditFixture()
        let audit = try fixture.open()
        fixture.disk.fail("audit/")
        await audit.settle(.sample(1, .userErased))
        try audit.note(.sample(2, .tokenMinted))
        await audit.retry()
        #expect(audit.status.owed == 2 && (audit.status.reserve?.used ?? 0) > 0)
        fixture.advance(by: 60)
        fixture.disk.fail(nil)
        await audit.retry()
        #expect(audit.status.owed == 0 && audit.status.reserve?.used == 0)
        #expect(try fixture.acts() == ["userErased", "tokenMinted"] && isSound(fixture))
        let record = try #require(try fixture.records().first { $0.action == "userErased" })
        #expect(record.at == fixture.now.addingTimeInterval(-60), "when it happened, not when it was written")
    }

    @Test func `a crash forgets nothing that the reserve holds, and writes nothing twice`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        fixture.disk.fail("audit/")
        await first.settle(.sample(1, .userErased))
        await first.settle(.sample(2, .consentRecorded))
        // All that a crash leaves: what is closed now writes nothing.
        await first.close()
        fixture.disk.fail(nil)
        let second = try fixture.open()
        #expect(try fixture.acts() == ["userErased", "consentRecorded"] && second.status.owed == 0)
        // A crash between writing what was reserved and clearing the reserve.
        fixture.disk.fail("audit/")
        await second.settle(.sample(3, .sendingReleased))
        fixture.disk.fail("reserve")
        await second.retry()
        await second.close()
        fixture.disk.fail(nil)
        let third = try fixture.open()
        #expect(try fixture.acts() == ["userErased", "consentRecorded", "sendingReleased"])
        #expect(third.status.owed == 0 && third.status.reserve?.used == 0)
        #expect(try isSound(fixture))
    }

    @Test func `when the reserve is used up, mints fail too, and what has happened anyway is owed in memory`()
        async throws
    {
        let fixture = try AuditFixture()
        fixture.bounds.reserveBytes = 8192
        let audit = try fixture.open()
        fixture.disk.fail("audit/")
        var mints = 0
        while !audit.status.isExhausted {
            try audit.note(.sample(mints, .tokenMinted))
            mints += 1
            await audit.retry()
        }
        #expect(mints > 5)
        #expect(throws: unavailable) { try audit.note(.sample(0, .tokenMinted)) }
        await audit.settle(.sample(0, .userErased))
        #expect(audit.status.owed == mints + 1)
        fixture.disk.fail(nil)
        await audit.retry()
        try audit.note(.sample(0, .tokenMinted))
        await audit.retry()
        #expect(try fixture.acts().count == mints + 2 && isSound(fixture))
    }

    @Test func `what memory has no room for is counted, and the count is recorded`() async throws {
        let fixture = try AuditFixture()
        fixture.bounds.reserveBytes = 0
        fixture.bounds.maximumWaiting = 3
        let audit = try fixture.open()
        fixture.disk.fail("audit/")
        for number in 0..<5 { await audit.settle(.sample(number, .userErased)) }
        #expect(audit.status.owed == 3 && audit.status.lost == 2)
        fixture.disk.fail(nil)
        await audit.retry()
        #expect(try fixture.records().last?.action == "recordsLost")
        #expect(try fixture.records().last?.details == ["count": "2"])
    }

    @Test func `a reserve that somebody changed is not believed`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        fixture.disk.fail("audit/")
        await first.settle(.sample(1, .userErased))
        var bytes = try Data(contentsOf: URL(filePath: fixture.reservePath))
        let range = try #require(bytes.range(of: Data("caller:shop".utf8)))
        bytes.replaceSubrange(range, with: Data("caller:shot".utf8))
        try bytes.write(to: URL(filePath: fixture.reservePath))
        await first.close()
        fixture.disk.fail(nil)
        _ = try fixture.open()
        #expect(try fixture.acts().isEmpty)
        #expect(try fixture.records().contains { $0.action == "recordsLost" })
    }

    @Test func `a record that a crash left unfinished is cut off, and that is recorded`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        try await first.record(.sample(1))
        let whole = try fixture.lines(1)
        let torn = #"{"sequence":3,"at":"2027"#
        try fixture.write(whole + [torn], to: 1, end: "")
        await first.close()
        let second = try fixture.open()
        let last = try #require(try fixture.records().last)
        #expect(last.action == "tornRecordRemoved" && last.details == ["bytes": String(torn.utf8.count)])
        try await second.record(.sample(2))
        #expect(try fixture.records().map(\.sequence) == [1, 2, 3, 4] && isSound(fixture))
        #expect(fixture.log.lines("left unfinished").count == 1)
    }

    @Test func `lines at the end that are none of ours stay, and the log goes on behind them in a new segment`()
        async throws
    {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        try await first.record(.sample(1))
        var lines = try fixture.lines(1)
        lines.append(lines[1].replacing("caller:shop", with: "caller:eve"))
        try fixture.write(lines, to: 1)
        await first.close()
        let second = try fixture.open()
        try await second.record(.sample(2))
        #expect(try fixture.lines(1) == lines)
        #expect(try fixture.directory.segments().map(\.number) == [1, 2])
        #expect(fixture.log.lines("The audit was changed").count == 1)
        #expect(try !isSound(fixture))
    }

    @Test func `a segment that a crash left empty is begun anew`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        try await first.record(.sample(1))
        try Data().write(to: URL(filePath: fixture.path(2)))
        await first.close()
        let second = try fixture.open()
        try await second.record(.sample(2))
        #expect(try fixture.directory.segments().map(\.number) == [1] && isSound(fixture))
    }

    @Test func `two cannot write one log`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        let error = #expect(throws: AuditFileError.self) { try fixture.open() }
        #expect(error?.problem.contains("another process writes this audit") == true)
        await first.close()
        _ = try fixture.open()
    }

    @Test func `a directory that others can read is refused, with what to do`() throws {
        let fixture = try AuditFixture()
        try FileManager.default.createDirectory(
            atPath: fixture.directory.path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o755])
        let error = #expect(throws: AuditFileError.self) { try fixture.open() }
        #expect(error?.problem.contains("chmod 0700") == true && error?.isOfDisk == false)
    }

    @Test func `segments end by size and age, and go as a whole once their last record is old enough`() async throws {
        let fixture = try AuditFixture()
        fixture.bounds.segmentBytes = 1000
        fixture.bounds.retention = 1000
        let audit = try fixture.open()
        for number in 0..<10 {
            try await audit.record(.sample(number))
            fixture.advance(by: 100)
        }
        let before = try fixture.directory.segments().map(\.number)
        #expect(before.count >= 3 && before.first == 1)
        #expect(try await audit.expire() == 0)
        fixture.advance(by: 500)
        let removed = try await audit.expire()
        #expect(removed >= 1 && removed < before.count)
        #expect(try fixture.directory.segments().map(\.number).first == removed + 1)
        let kept = try fixture.records().first { AuditAct.Action(rawValue: $0.action) != nil }
        #expect(try #require(kept).at > fixture.now.addingTimeInterval(-1000 - 500))
        #expect(try isSound(fixture), "what is left verifies by itself")
        await audit.close()
        let again = try fixture.open()
        try await again.record(.sample(11))
        #expect(try isSound(fixture))
    }
}
