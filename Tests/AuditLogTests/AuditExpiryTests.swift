import Domain
import Foundation
import TestSupport
import Testing

@testable import AuditLog

/// What has been kept long enough goes; whoever can change the files cannot have more removed, or told as ours.
struct AuditExpiryTests {
    private func report(_ fixture: AuditFixture, _ heads: [AuditHead] = []) throws -> AuditReport {
        var verifier = AuditVerifier(directory: fixture.directory, keys: fixture.keys, heads: heads)
        return try verifier.verify()
    }

    /// A log of three segments, a hundred seconds each.
    private func log(retention: TimeInterval) async throws -> (fixture: AuditFixture, audit: AuditWriter) {
        let fixture = try AuditFixture()
        fixture.bounds.segmentAge = 100
        fixture.bounds.retention = retention
        let audit = try fixture.open()
        for segment in 0..<3 {
            if segment > 0 { fixture.advance(by: 100) }
            try await audit.record(.sample(segment))
        }
        #expect(try fixture.segmentNumbers() == [1, 2, 3])
        return (fixture, audit)
    }

    @Test func `a head that somebody made older lets nothing expire`() async throws {
        let (fixture, audit) = try await log(retention: 1000)
        for segment in 2...3 {
            var lines = try fixture.lines(segment)
            lines[0] = lines[0].replacing("\"at\":\"2027", with: "\"at\":\"2020")
            try fixture.write(lines, to: segment)
        }
        #expect(try await audit.expire() == 0)
        #expect(try fixture.segmentNumbers() == [1, 2, 3])
    }

    @Test func `the head of another segment lets nothing expire`() async throws {
        let (fixture, audit) = try await log(retention: 150)
        // Of the first segment it is old enough.
        var lines = try fixture.lines(2)
        lines[0] = try fixture.lines(1)[0]
        try fixture.write(lines, to: 2)
        #expect(try await audit.expire() == 0)
        #expect(try fixture.segmentNumbers() == [1, 2, 3])
    }

    @Test func `a chain whose key is lost goes with the next one that can be judged, and is not missed`() async throws {
        let (fixture, first) = try await log(retention: 1000)
        let lost = try #require(first.status.head)
        await first.close()
        fixture.keys.loseAll()
        let second = try fixture.open()
        try await second.record(.sample(3))
        fixture.advance(by: 900)
        #expect(try await second.expire() == 0)
        fixture.advance(by: 200)
        try await second.record(.sample(4))
        #expect(try await second.expire() == 3)
        #expect(try fixture.segmentNumbers().first == 4)
        #expect(try report(fixture, [lost]).findings.isEmpty)
        // The record that said so expires, too, and each new segment says it again.
        await second.close()
        let third = try fixture.open()
        for _ in 0..<2 {
            fixture.advance(by: 1001)
            try await third.record(.sample(5))
            #expect(try await third.expire() >= 1)
        }
        #expect(try report(fixture, [lost]).findings.isEmpty)
    }

    @Test func `a chain that is gone is missed, whatever has expired`() async throws {
        let (fixture, audit) = try await log(retention: 150)
        fixture.advance(by: 100)
        #expect(try await audit.expire() == 1)
        let gone = AuditHead(
            instance: "5e7c25c1-9c4f-4ac7-8f1e-0d4b9ed5f2c4", chain: "0123456789abcdef", sequence: 7,
            code: String(repeating: "a", count: 64))
        #expect(
            try report(fixture, [gone]).findings.map(\.description) == [
                "removed: Chain 0123456789abcdef, which the journal names, is not there at all. It is of instance \(gone.instance)."
            ])
    }

    @Test func `a first line that was changed is told at the start, and nothing is taken from it`() async throws {
        let (fixture, first) = try await log(retention: 1000)
        let instance = try #require(first.status.head).instance
        await first.close()
        var lines = try fixture.lines(3)
        lines[0] = lines[0].replacing(instance, with: UUID().uuidString.lowercased())
        try fixture.write(lines, to: 3)
        let second = try fixture.open()
        try await second.record(.sample(9))
        #expect(second.status.head?.instance == instance && second.status.segment == 4)
        #expect(fixture.log.lines("The audit was changed").count == 1)
        #expect(try report(fixture).findings.map(\.description) == ["changed: segment 3: Record 5 was changed."])
    }

    @Test func `a segment whose line feeds were taken out is kept for whoever looks into it`() async throws {
        let (fixture, first) = try await log(retention: 1000)
        for number in 0..<50 { try await first.record(.sample(number)) }
        await first.close()
        let bytes = Data(try fixture.lines(3).joined(separator: " ").utf8)
        try bytes.write(to: URL(filePath: fixture.path(3)))
        let second = try fixture.open()
        try await second.record(.sample(1))
        #expect(try Data(contentsOf: URL(filePath: fixture.path(3))) == bytes)
        #expect(second.status.segment == 4)
    }

    @Test func `what a full disk left of a new segment is in nobody's way`() async throws {
        let (fixture, audit) = try await log(retention: 1000)
        fixture.advance(by: 100)
        try Data("{".utf8).write(to: URL(filePath: fixture.path(4)))
        try await audit.record(.sample(4))
        #expect(audit.status.segment == 4)
        #expect(try report(fixture).findings.isEmpty)
    }
}
