import Domain
import Foundation
import TestSupport
import Testing

@testable import AuditLog

/// The reserve fails as well, is changed by others, or is full.
struct AuditReserveTests {
    @Test func `a reserve that cannot be emptied stops nothing, and nothing is written twice`() async throws {
        let fixture = try AuditFixture()
        fixture.bounds.segmentBytes = 600
        let first = try fixture.open()
        fixture.disk.fail("audit/")
        await first.settle(.sample(1, .userErased))
        let kept = try Data(contentsOf: URL(filePath: fixture.reservePath))
        fixture.disk.fail("reserve")
        await first.retry()
        #expect(first.status.problem == nil && first.status.owed == 0)
        #expect(first.status.reserveProblem?.contains("No space left") == true)
        #expect(first.status.reserve?.free == 0, "nothing that is put there would be found")
        for number in 2...5 { try await first.record(.sample(number)) }
        await first.retry()
        #expect(fixture.log.lines("The audit's reserve cannot be written").count == 1, "told once")
        #expect(try fixture.segmentNumbers().count > 3)
        await first.close()
        // As if nothing of it had been overwritten.
        try kept.write(to: URL(filePath: fixture.reservePath))
        fixture.disk.fail(nil)
        let second = try fixture.open()
        #expect(second.status.reserveProblem == nil && second.status.reserve?.used == 0 && second.status.owed == 0)
        #expect(try fixture.acts() == ["userErased"] + Array(repeating: "signatureMade", count: 4))
        #expect(try fixture.records().count { $0.action == "writingResumed" } == 1)
    }

    @Test func `what a failed write left in the log for good is there once, also after a crash`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        await first.settle(.sample(1, .userErased))
        fixture.disk.fail("audit/", with: EIO, keepsAll: true)
        // Another one that says the same, and one that is refused.
        await first.settle(.sample(1, .userErased))
        try? await first.record(.sample(2))
        await first.close()
        #expect(first.status.owed == 1)
        #expect(fixture.log.lines("The audit stays open").count == 1)
        let crashed = try fixture.copy()
        let second = try crashed.open()
        #expect(try crashed.acts() == ["userErased", "userErased"] && second.status.owed == 0)
        fixture.disk.fail(nil)
        await first.retry()
        #expect(try fixture.acts() == ["userErased", "userErased"])
    }

    @Test func `an act that says the same as one before has a record of its own, also after a crash`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        await first.settle(.sample(1, .userErased))
        fixture.disk.fail("audit/")
        await first.settle(.sample(1, .userErased))
        let crashed = try fixture.copy()
        let second = try crashed.open()
        #expect(try crashed.acts() == ["userErased", "userErased"] && second.status.owed == 0)
    }

    @Test func `what is kept in a reserve that was emptied in part is found after a crash`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        fixture.disk.fail("audit/")
        for number in 1...3 { await first.settle(.sample(number, .userErased)) }
        // Half of it is overwritten.
        fixture.disk.fail("reserve")
        await first.retry()
        fixture.disk.fail("audit/")
        await first.settle(.sample(4, .consentRecorded))
        await first.close()
        fixture.disk.fail(nil)
        let second = try fixture.open()
        #expect(second.status.lost == 0)
        #expect(try fixture.acts() == ["userErased", "userErased", "userErased", "consentRecorded"])
    }

    @Test func `what a failed write left in the reserve is not taken for records`() throws {
        let fixture = try AuditFixture()
        let key = try fixture.keys.make()
        func open() throws -> (reserve: AuditReserve, content: AuditReserve.Content) {
            try AuditReserve.open(fixture.reservePath, capacity: 1 << 14, key: key, fixture.disk.calls)
        }
        var reserve = try open().reserve
        fixture.disk.fail("reserve")
        let entries = (1...3).map { AuditRecord.Entry(.sample($0, .userErased), at: fixture.now) }
        #expect(throws: AuditFileError.self) { try reserve.append(entries, behind: 0) }
        fixture.disk.fail(nil)
        #expect(try reserve.append([.init(AuditAct(.userErased, by: .daemon), at: fixture.now)], behind: 0).count == 1)
        let content = try open().content
        #expect(content.entries.map(\.actor) == ["daemon"] && content.unknownLines == 0)
    }

    @Test func `what a crash left behind the last record is no line, however far it reaches`() throws {
        let fixture = try AuditFixture()
        let key = try fixture.keys.make()
        func open() throws -> (reserve: AuditReserve, content: AuditReserve.Content) {
            try AuditReserve.open(fixture.reservePath, capacity: 1 << 18, key: key, fixture.disk.calls)
        }
        var reserve = try open().reserve
        let entry = AuditRecord.Entry(.sample(1, .userErased), at: fixture.now)
        #expect(try reserve.append([entry], behind: 0).count == 1)
        let file = try FileHandle(forUpdating: URL(filePath: fixture.reservePath))
        // A line without its end, and another one pages later.
        for place in [reserve.used, 200_000] {
            try file.seek(toOffset: UInt64(place))
            try file.write(contentsOf: Data("{\"sequence\":2".utf8))
        }
        try file.close()
        var (again, content) = try open()
        #expect(content.entries.count == 1 && content.unknownLines == 0 && again.used == reserve.used)
        #expect(try again.append([entry], behind: 0).count == 1)
        let bytes = try Data(contentsOf: URL(filePath: fixture.reservePath))
        #expect(bytes.count == 1 << 18 && bytes[again.used...].allSatisfy { $0 == 0 })
        #expect(try open().content.entries.count == 2)
    }

    @Test func `a line in the log that only claims to be a record of the reserve hides nothing`() async throws {
        let fixture = try AuditFixture()
        let first = try fixture.open()
        fixture.disk.fail("audit/")
        await first.settle(.sample(1, .userErased))
        await first.close()
        fixture.disk.fail(nil)
        let reserved = try Data(contentsOf: URL(filePath: fixture.reservePath)).prefix { $0 != 0 }
        try fixture.write(try fixture.lines(1) + [String(decoding: reserved.dropLast(), as: UTF8.self)], to: 1)
        let second = try fixture.open()
        #expect(second.status.owed == 0)
        let records = try fixture.records().filter { $0.action == "userErased" }
        #expect(records.count == 2, "the line that was put in, and the record")
    }

    @Test func `whoever opens the audit again after it was closed writes nothing twice`() async throws {
        let fixture = try AuditFixture()
        let audit = try fixture.open()
        fixture.disk.fail("audit/")
        await audit.settle(.sample(1, .userErased))
        await audit.close()
        fixture.disk.fail(nil)
        await audit.settle(.sample(2, .serviceStopped))
        #expect(try fixture.acts() == ["userErased", "serviceStopped"])
    }

    @Test func `failures to authenticate leave the memory to what counts, and so does the reserve`() async throws {
        let fixture = try AuditFixture()
        fixture.bounds.reserveBytes = 8192
        fixture.bounds.maximumWaiting = 3
        let audit = try fixture.open()
        fixture.disk.fail("audit/")
        for number in 0..<5 {
            try audit.note(.sample(number, .authenticationFailed))
            await audit.retry()
        }
        #expect(audit.status.owed == 3 && audit.status.lost == 2)
        var mints = 0
        while !audit.status.isExhausted {
            try audit.note(.sample(mints, .tokenMinted))
            mints += 1
            await audit.retry()
        }
        #expect(mints > 3 && audit.status.reserve?.free == 0)
        for number in 0..<3 { await audit.settle(.sample(number, .userErased)) }
        #expect(audit.status.owed == mints + 3 && audit.status.lost == 5)
        fixture.disk.fail(nil)
        await audit.retry()
        let acts = try fixture.acts()
        #expect(acts.count { $0 == "userErased" } == 3 && acts.count { $0 == "tokenMinted" } == mints)
        #expect(try fixture.records().last?.details == ["count": "5"])
    }

    @Test func `nothing says that the log can be written before it has taken what is owed`() async throws {
        let fixture = try AuditFixture()
        let audit = try fixture.open()
        fixture.disk.fail("audit/")
        for number in 1...5 { await audit.settle(.sample(number, .userErased)) }
        // Room for one short record and no more.
        fixture.disk.fail("audit/", above: 700)
        for _ in 0..<3 { await audit.retry() }
        #expect(audit.status.owed == 5 && audit.status.problem != nil)
        fixture.disk.fail(nil)
        await audit.retry()
        let resumed = try fixture.records().count { $0.action == "writingResumed" }
        #expect(try resumed == 1 && fixture.acts().count == 5)
        #expect(fixture.log.lines("The audit can be written again").count == 1)
    }

    @Test func `a reserve that a start left too short has its room at the next`() async throws {
        let fixture = try AuditFixture()
        try Data().write(to: URL(filePath: fixture.reservePath))
        let audit = try fixture.open()
        #expect(audit.status.reserve?.capacity == fixture.bounds.reserveBytes)
    }
}
