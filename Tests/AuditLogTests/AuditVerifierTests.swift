import Foundation
import TestSupport
import Testing

@testable import AuditLog

/// Whatever is done to the files, `verify` says what and where.
struct AuditVerifierTests {
    /// A log of three segments: 1–4, 5–8 and 9–12, each begun by its head.
    private func log() async throws -> (fixture: AuditFixture, heads: [AuditHead]) {
        let fixture = try AuditFixture()
        fixture.bounds.segmentAge = 100
        let audit = try fixture.open()
        var heads: [AuditHead] = []
        for segment in 0..<3 {
            if segment > 0 { fixture.advance(by: 100) }
            for number in 1...3 { try await audit.record(.sample(3 * segment + number)) }
            heads.append(try #require(audit.status.head))
        }
        await audit.close()
        #expect(try fixture.records().map(\.sequence) == Array(1...12))
        return (fixture, heads)
    }

    private func findings(_ fixture: AuditFixture, _ heads: [AuditHead] = []) throws -> [String] {
        var verifier = AuditVerifier(directory: fixture.directory, keys: fixture.keys, heads: heads)
        return try verifier.verify().findings.map(\.description)
    }

    @Test func `a log that nobody touched is sound, with every head of the journal in its place`() async throws {
        let (fixture, heads) = try await log()
        var verifier = AuditVerifier(directory: fixture.directory, keys: fixture.keys, heads: heads)
        let report = try verifier.verify()
        #expect(report.isSound && report.findings.isEmpty)
        #expect(report.segments == 3 && report.records == 12 && report.heads == 3)
        #expect(report.chains.count == 1 && report.last == fixture.now)
    }

    @Test func `a record that was changed is named, and no other`() async throws {
        let (fixture, heads) = try await log()
        var lines = try fixture.lines(2)
        lines[2] = lines[2].replacing("caller:shop", with: "caller:eve")
        try fixture.write(lines, to: 2)
        #expect(try findings(fixture, heads) == ["changed: segment 2: Record 7 was changed."])
    }

    @Test func `whatever byte of a record is changed, it is found`() async throws {
        let (fixture, _) = try await log()
        let lines = try fixture.lines(2)
        let line = Array(lines[2].utf8)
        for index in line.indices {
            var bent = line
            bent[index] = bent[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            var changed = lines
            changed[2] = String(decoding: bent, as: UTF8.self)
            try fixture.write(changed, to: 2)
            #expect(try findings(fixture) == ["changed: segment 2: Record 7 was changed."], "byte \(index)")
        }
    }

    @Test func `the last record of a segment that was changed is named`() async throws {
        let (fixture, _) = try await log()
        var lines = try fixture.lines(2)
        lines[3] = lines[3].replacing("caller:shop", with: "caller:eve")
        try fixture.write(lines, to: 2)
        #expect(try findings(fixture) == ["changed: segment 2: Record 8 was changed."])
    }

    @Test func `a changed head of a segment is named`() async throws {
        let (fixture, _) = try await log()
        var lines = try fixture.lines(2)
        lines[0] = lines[0].replacing("\"at\":\"2027", with: "\"at\":\"2026")
        try fixture.write(lines, to: 2)
        #expect(try findings(fixture) == ["changed: segment 2: Record 5 was changed."])
    }

    @Test func `records that were removed are named`() async throws {
        let (fixture, heads) = try await log()
        var lines = try fixture.lines(2)
        lines.removeSubrange(1...2)
        try fixture.write(lines, to: 2)
        #expect(try findings(fixture, heads) == ["removed: segment 2: Records 6 to 7 were removed."])
        lines.removeLast()
        try fixture.write(lines, to: 2)
        #expect(
            try findings(fixture, Array(heads.suffix(1)))
                == ["removed: segment 3: Records 6 to 8 were removed."], "up to the end of a segment")
    }

    @Test func `records that were moved, put in or copied are named`() async throws {
        let (fixture, _) = try await log()
        let lines = try fixture.lines(2)
        try fixture.write([lines[0], lines[2], lines[3], lines[1]], to: 2)
        #expect(try findings(fixture) == ["reordered: segment 2: Record 6 was moved to line 4."])
        let forged = lines[2].replacing("caller:shop", with: "caller:eve")
        try fixture.write([lines[0], lines[1], lines[2], forged, lines[3]], to: 2)
        #expect(try findings(fixture) == ["inserted: segment 2: Line 4 was put in after record 7."])
        try fixture.write(["nothing", lines[0], lines[1], lines[2], lines[3]], to: 2)
        #expect(
            try findings(fixture)
                == [
                    "changed: segment 2: It does not begin with the record that every segment begins with.",
                    "inserted: segment 2: Line 1 was put in after record 4.",
                ])
        try fixture.write(lines + [try fixture.lines(1)[2]], to: 2)
        #expect(try findings(fixture) == ["inserted: segment 2: Line 5 is a copy of record 3."])
    }

    @Test func `a segment that was removed is named, and what it held`() async throws {
        let (fixture, _) = try await log()
        try FileManager.default.removeItem(atPath: fixture.path(2))
        #expect(
            try findings(fixture)
                == ["removed: Segment 2 was removed.", "removed: segment 3: Records 5 to 8 were removed."])
    }

    @Test func `segments that were removed from the beginning are told from those that have expired`() async throws {
        let (fixture, _) = try await log()
        try FileManager.default.removeItem(atPath: fixture.path(1))
        #expect(
            try findings(fixture)
                == ["removed: Segment 1 was removed. No record says that the retention removed it."])
    }

    @Test func `what was cut off the end shows beside the journal's heads`() async throws {
        let (fixture, heads) = try await log()
        var lines = try fixture.lines(3)
        lines.removeLast(2)
        try fixture.write(lines, to: 3)
        #expect(try findings(fixture).isEmpty, "the files alone cannot tell")
        let chain = heads[0].chain
        #expect(
            try findings(fixture, heads)
                == ["cutOff: segment 3: Records 11 to 12 were cut off the end of chain \(chain)."])
        try FileManager.default.removeItem(atPath: fixture.path(3))
        #expect(
            try findings(fixture, heads)
                == ["cutOff: segment 2: Records 9 to 12 were cut off the end of chain \(chain)."])
    }

    @Test func `a log that was cut off and went on shows beside the journal's heads`() async throws {
        let (fixture, heads) = try await log()
        var lines = try fixture.lines(3)
        lines.removeLast()
        try fixture.write(lines, to: 3)
        let audit = try fixture.open()
        try await audit.record(.sample(99))
        #expect(
            try findings(fixture, heads)
                == [
                    "replaced: segment 3: Record 12 is authentic and not the one that the journal names: the log was cut off before it, and went on."
                ])
    }

    @Test func `of two heads with one number both are looked for, whichever the journal tells first`() async throws {
        let (fixture, heads) = try await log()
        var lines = try fixture.lines(3)
        lines.removeLast()
        try fixture.write(lines, to: 3)
        let audit = try fixture.open()
        try await audit.record(.sample(99))
        let head = try #require(audit.status.head)
        #expect(head.sequence == heads[2].sequence)
        for known in [[head] + heads, heads + [head], [head, head] + heads] {
            var verifier = AuditVerifier(directory: fixture.directory, keys: fixture.keys, heads: known)
            let report = try verifier.verify()
            #expect(report.findings.map(\.kind) == [.replaced])
            #expect(report.heads == 3 && report.knownHeads == 4, "those that are in their place, each once")
        }
    }

    @Test func `a line that a crash cut through is told from what somebody did`() async throws {
        let (fixture, _) = try await log()
        var lines = try fixture.lines(3)
        lines[3] = String(lines[3].dropLast(20))
        try fixture.write(lines, to: 3, end: "")
        var verifier = AuditVerifier(directory: fixture.directory, keys: fixture.keys)
        let report = try verifier.verify()
        #expect(report.findings.map(\.kind) == [.torn] && report.isSound)
    }

    @Test func `a chain whose key is lost is said to be unverifiable, and the next one is verified`() async throws {
        let (fixture, heads) = try await log()
        fixture.keys.loseAll()
        let audit = try fixture.open()
        try await audit.record(.sample(1))
        let head = try #require(audit.status.head)
        var verifier = AuditVerifier(directory: fixture.directory, keys: fixture.keys, heads: heads + [head])
        let report = try verifier.verify()
        #expect(report.findings.map(\.kind) == [.unverifiable])
        #expect(report.unverified == 12 && report.records == 14 && report.heads == 1)
        let first = try #require(try fixture.records().first { $0.details["chain"] == head.chain })
        #expect(first.details["formerChain"] != nil && first.details["cause"] == "it is lost" && first.sequence == 1)
        #expect(first.details["instance"] == (try fixture.records()[0].details["instance"]))
        #expect(fixture.log.lines("A new chain of the audit begins").count == 1)
    }

    @Test(arguments: [
        "%", "2026-05-01T12:00:00Z notice purser: % ", #"{"time":"2026-05-01T12:00:00.000Z","message":"%"}"#,
        "May 01 12:00:00 host purser[1]: %",
    ])
    func `heads are read from the service's log in every format`(line: String) async throws {
        let (_, heads) = try await log()
        #expect(AuditHead(in: line.replacing("%", with: "\(heads[0])")) == heads[0])
        #expect(AuditHead(in: line.replacing("%", with: "Audit head none")) == nil)
    }
}
