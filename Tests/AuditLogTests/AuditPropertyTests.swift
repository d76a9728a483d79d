import Domain
import Foundation
import TestSupport
import Testing

@testable import AuditLog

/// Whatever happens to the log in whatever order, nothing that was promised is missing, nothing is there twice, and it verifies.
struct AuditPropertyTests {
    /// A log with its disk, and what must be in it.
    private struct World {
        let fixture: AuditFixture
        let seed: UInt64
        var disk: AuditDisk
        var random: SeededRandom
        var next = 0
        /// Acts whose record somebody was promised.
        var promised: Set<Int> = []
        /// Acts that were refused, and of which a failed write has left a record that nobody could cut off.
        var leftBehind: Set<Int> = []
        /// Acts that were refused: they have no record.
        var refused: Set<Int> = []
        /// Acts that have happened and whose record was in memory alone when the process died.
        var forgotten: Set<Int> = []
        /// The same, as long as it lives.
        var inMemoryAlone: Set<Int> = []
        /// Acts whose records were old enough.
        var expired: [Int] = []

        init(_ seed: UInt64) throws {
            fixture = try AuditFixture()
            fixture.bounds.segmentBytes = 2500
            fixture.bounds.segmentAge = 500
            fixture.bounds.retention = 2000
            fixture.bounds.reserveBytes = 1 << 14
            self.seed = seed
            random = SeededRandom(seed: seed)
            disk = Self.disk(fixture)
            try disk.write([], at: fixture.now)
        }

        private static func disk(_ fixture: AuditFixture) -> AuditDisk {
            var calls = fixture.disk.calls
            // Loss of power is not what this is about, and waiting for the disk takes most of the time.
            calls.synchronize = { _ in 0 }
            return AuditDisk(
                directory: fixture.directory, reservePath: fixture.reservePath, bounds: fixture.bounds, calls: calls,
                keys: fixture.keys, logger: fixture.log.logger)
        }

        mutating func step() throws {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6: record()
            case 6..<10: settle()
            case 10, 11:
                let paths = ["audit/", "audit/", "reserve", "", nil]
                fixture.disk.fail(
                    paths.randomElement(using: &random) ?? nil, above: Bool.random(using: &random) ? 0 : 900,
                    keepsAll: Bool.random(using: &random))
            case 12, 13: fixture.disk.fail(nil)
            case 14, 15: fixture.advance(by: .random(in: 0..<900, using: &random))
            case 16: try expire()
            case 17: _ = try? disk.write([], at: fixture.now)
            case 18:
                _ = try? disk.write([], at: fixture.now)
                // What is owed goes on being owed by the same process.
                disk.close()
            default: try crash()
            }
        }

        private mutating func entry() -> AuditRecord.Entry {
            next += 1
            return AuditRecord.Entry(.sample(next, .userErased), at: fixture.now)
        }

        private mutating func record() {
            let entry = entry()
            if (try? disk.write([entry], at: fixture.now)) != nil {
                promised.insert(next)
            } else {
                refused.insert(next)
            }
        }

        private mutating func settle() {
            let entry = entry()
            promised.insert(next)
            guard (try? disk.write([entry], at: fixture.now)) == nil else { return }
            let before = disk.status.reserve?.used ?? 0
            disk.owe([entry])
            if disk.status.reserve?.used ?? 0 <= before { inMemoryAlone.insert(next) }
        }

        private mutating func expire() throws {
            let before = try records()
            _ = try? disk.expire(at: fixture.now)
            let kept = Set(try fixture.segmentNumbers())
            for (segment, acts) in before where !kept.contains(segment) {
                for (number, at) in acts {
                    #expect(fixture.now.timeIntervalSince(at) > 2000, "seed \(seed): act \(number) went too early")
                    expired.append(number)
                }
            }
        }

        /// The process ends at once; at times in the midst of a record, or of making a segment.
        private mutating func crash() throws {
            let written = Set(try records().flatMap(\.acts).map(\.number))
            forgotten.formUnion(inMemoryAlone.subtracting(written))
            inMemoryAlone = []
            leftBehind.formUnion(refused.intersection(written))
            disk = Self.disk(fixture)
            guard let newest = try fixture.segmentNumbers().last else { return }
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let file = try FileHandle(forWritingTo: URL(filePath: fixture.path(newest)))
                try file.seekToEnd()
                try file.write(contentsOf: Data(#"{"sequence":"#.utf8))
                try file.close()
            case 1: try Data().write(to: URL(filePath: fixture.path(newest + 1)))
            default: break
            }
        }

        /// By segment: the numbers of its acts, and when they happened.
        private func records() throws -> [(segment: Int, acts: [(number: Int, at: Date)])] {
            try fixture.segmentNumbers().map { segment in
                let records = try fixture.lines(segment).compactMap { AuditRecord(line: Array($0.utf8)) }
                return (
                    segment,
                    records.compactMap { record in record.details["number"].flatMap(Int.init).map { ($0, record.at) } }
                )
            }
        }

        mutating func check() throws {
            fixture.disk.fail(nil)
            try disk.write([], at: fixture.now)
            #expect(disk.status.owed == 0 && disk.status.lost == 0, "seed \(seed)")
            var verifier = AuditVerifier(
                directory: fixture.directory, keys: fixture.keys, heads: disk.status.head.map { [$0] } ?? [])
            let report = try verifier.verify()
            #expect(report.findings.isEmpty && report.heads == 1, "seed \(seed): \(report.findings)")
            let there = expired + (try records().flatMap(\.acts).map(\.number))
            let counts = Dictionary(there.map { ($0, 1) }, uniquingKeysWith: +)
            for number in 1...max(1, next) {
                let count = counts[number, default: 0]
                if forgotten.contains(number) || leftBehind.contains(number) {
                    #expect(count <= 1, "seed \(seed): act \(number)")
                } else if promised.contains(number) {
                    #expect(count == 1, "seed \(seed): act \(number) was promised")
                } else {
                    #expect(count == 0, "seed \(seed): act \(number) was refused")
                }
            }
        }
    }

    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func `every act that was promised has one record, those that were refused none`(seed: UInt64) throws {
        var world = try World(seed)
        for _ in 0..<4 {
            for _ in 0..<25 { try world.step() }
            try world.check()
        }
        #expect(!world.promised.isEmpty)
    }
}
