import Foundation
import OpenSSL

/// Where a log ended the last time, found in its newest segment.
struct AuditChainEnd {
    /// How much of the newest segment's end is looked at, in bytes.
    private static let tailBytes = 1 << 18

    let instance: String
    let segment: AuditDirectory.Segment
    let beganAt: Date
    var sequence: Int
    var code: String
    /// Length of the segment up to the last whole record, in bytes.
    var size: Int
    /// Bytes behind it, of a record that a crash left unfinished.
    var tornBytes = 0
    /// How many whole lines behind the last authentic record are none: somebody changed them.
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
    /// `segment`: the newest; `head`: its first record; `key`: of its chain.
    ///
    /// Result: nil when no record of it is authentic.
    ///
    /// - Throws: `AuditFileError`, or `OpenSSLError`.
    init?(
        of segment: AuditDirectory.Segment, _ head: AuditRecord, in directory: AuditDirectory, key: AuditKey
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
        instance = head.details["instance"] ?? ""
        self.segment = segment
        beganAt = head.at
        sequence = found.sequence
        code = found.code
        size = start + lineFeed + 1
        tornBytes = whole - size
        unknownLines = unknown
    }
}

extension AuditChain {
    /// The places in the reserve that records of the newest segments say they come from.
    ///
    /// - Throws: `AuditFileError`
    func reservedPlaces() throws(AuditFileError) -> [AuditRecord.ReservePlace] {
        var places: [AuditRecord.ReservePlace] = []
        // A reserve is written into the log at once, which at most one new segment interrupts.
        for segment in try directory.segments().suffix(2) {
            var lines = try SegmentLines(directory.path(of: segment))
            while let line = try lines.next() {
                if let place = AuditRecord(line: line.bytes)?.reserved { places.append(place) }
            }
        }
        return places
    }
}
