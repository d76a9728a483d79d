import Foundation
import OpenSSL

/// Where a log ended the last time, found in its newest segment.
struct AuditChainEnd {
    /// How much of the newest segment's end is looked at, in bytes.
    private static let tailBytes = 1 << 18

    let instance: String
    let expiredChains: Set<String>
    let segment: AuditDirectory.Segment
    let beganAt: Date
    var sequence: Int
    var code: String
    /// Length of the segment up to the last whole record, in bytes.
    var size: Int
    /// Bytes behind it, of a record that a crash left unfinished.
    var tornBytes = 0
    /// How many whole lines are no records, of the segment's first and those behind the last authentic one: somebody changed
    /// them.
    var unknownLines = 0

    /// The record that a segment begins with; nil where there is none.
    static func head(
        of segment: AuditDirectory.Segment, in directory: AuditDirectory
    ) throws(AuditFileError) -> AuditRecord? {
        var lines = try SegmentLines(directory.path(of: segment))
        guard let line = try lines.next(), line.isWhole, let record = AuditRecord(line: line.bytes),
            record.action == AuditRecord.Entry.LogAction.segmentBegan.rawValue
        else { return nil }
        return record
    }

    /// Finds the end of a segment.
    ///
    /// `segment`: the newest; `head`: its first record, which may not be authentic; `heads`: those that are.
    ///
    /// Result: nil when no record of it is authentic.
    ///
    /// - Throws: `AuditFileError`, or `OpenSSLError`.
    init?(
        of segment: AuditDirectory.Segment, _ head: AuditRecord, in directory: AuditDirectory, key: AuditKey,
        _ heads: inout AuthenticHeads
    ) throws {
        let file = try AuditFile(reading: directory.path(of: segment))
        let whole = try file.size()
        let start = max(0, whole - Self.tailBytes)
        let tail = try file.read(from: start, count: whole - start)
        guard let lineFeed = tail.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
        var lines = tail[...lineFeed].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        // The first may have begun before the tail.
        if start > 0 { lines = lines.dropFirst() }
        var unknown = 0
        var found: AuditRecord?
        for line in lines.reversed() {
            if let record = AuditRecord(line: Array(line)), try AuditRecord.isAuthentic(Array(line), key: key) {
                found = record
                break
            }
            unknown += 1
        }
        guard let found else { return nil }
        let authentic = try heads.head(of: segment)
        let believed = try authentic ?? heads.newest(of: key.chain)
        instance = believed?.details["instance"] ?? UUID().uuidString.lowercased()
        expiredChains = believed?.expiredChains ?? []
        self.segment = segment
        beganAt = head.at
        sequence = found.sequence
        code = found.code
        size = start + lineFeed + 1
        tornBytes = whole - size
        unknownLines = unknown + (authentic == nil ? 1 : 0)
    }
}

extension AuditChain {
    /// Those of the entries that were in the reserve which this chain has, by their places there.
    ///
    /// A record of one names its place. One that does not was left by the write that failed when the entry was put into the
    /// reserve, and could not be cut off before the process ended: it says the same, behind what was the last record then.
    ///
    /// - Throws: `AuditFileError`, or `OpenSSLError`.
    func written(
        _ entries: [AuditRecord.Entry], _ heads: inout AuthenticHeads
    ) throws -> Set<AuditRecord.ReservePlace> {
        let reserved = entries.filter { $0.reserved != nil }
        guard let oldest = reserved.map({ $0.reservedBehind ?? 0 }).min() else { return [] }
        let (places, contents) = (Set(reserved.compactMap(\.reserved)), Set(reserved.map(\.content)))
        var found: Set<AuditRecord.ReservePlace> = []
        var left: [AuditRecord.Entry: [Int]] = [:]
        for segment in try directory.segments().reversed() where found.count < places.count {
            var lines = try SegmentLines(directory.path(of: segment))
            while let line = try lines.next() {
                guard let record = AuditRecord(line: line.bytes) else { continue }
                let entry = AuditRecord.Entry(record)
                guard entry.reserved.map(places.contains) ?? contents.contains(entry),
                    try AuditRecord.isAuthentic(line.bytes, key: key)
                else { continue }
                if let place = entry.reserved {
                    found.insert(place)
                } else {
                    left[entry, default: []].append(record.sequence)
                }
            }
            // What was written afterwards is in none that began before.
            if let head = try heads.head(of: segment), head.details["chain"] != key.chain || head.sequence <= oldest {
                break
            }
        }
        for entry in reserved {
            guard let place = entry.reserved, !found.contains(place) else { continue }
            let behind = entry.reservedBehind ?? 0
            guard let index = left[entry.content]?.firstIndex(where: { $0 > behind }) else { continue }
            left[entry.content]?.remove(at: index)
            found.insert(place)
        }
        return found
    }
}
