/// The records of one segment as they stand there.
struct SegmentReading {
    let segment: Int
    /// Bytes behind the last whole line.
    var tornBytes = 0
    /// In their order; nil where a line is no record that anybody can read.
    private(set) var lines: [(record: AuditRecord?, isAuthentic: Bool)] = []

    init(segment: Int) { self.segment = segment }

    var isEmpty: Bool { lines.isEmpty }
    var count: Int { lines.count }
    /// Those whose code is that of what they say.
    var authentic: [AuditRecord] { lines.compactMap { $0.isAuthentic ? $0.record : nil } }

    mutating func add(_ record: AuditRecord?, isAuthentic: Bool) { lines.append((record, isAuthentic)) }
}

/// How far a chain has been followed.
struct ChainProgress {
    let name: String
    /// Nil when it cannot be had.
    let key: AuditKey?
    /// The segment that was looked at last.
    private(set) var segment: Int
    /// The record that was looked at last.
    private(set) var last: AuditRecord?
    /// Records behind it that were changed, and have been told of.
    private var changedBehind: Set<Int> = []

    init(name: String, key: AuditKey?, first: Int) {
        self.name = name
        self.key = key
        segment = first
    }

    /// Follows the chain through a segment, and tells what does not fit.
    mutating func take(_ reading: SegmentReading, _ report: inout AuditReport) {
        segment = reading.segment
        report.chains.insert(name)
        let kept = inOrder(reading, &report)
        // By number: what is authentic and in its place, so that the rest can be named.
        var missing = gaps(in: kept, reading.segment, &report)
        judgeUnknown(reading, kept, &missing, &report)
        for range in ranges(missing) {
            report.add(
                .removed, reading.segment,
                range.count == 1
                    ? "Record \(range.lowerBound) was removed."
                    : "Records \(range.lowerBound) to \(range.upperBound) were removed.")
        }
        if let end = kept.last {
            last = end
            changedBehind = changedBehind.filter { $0 > end.sequence }
        }
    }

    /// The authentic records in ascending order; copies and those that stand elsewhere are told of.
    private func inOrder(_ reading: SegmentReading, _ report: inout AuditReport) -> [AuditRecord] {
        var bySequence: [Int: AuditRecord] = [:]
        var positions: [(index: Int, sequence: Int)] = []
        for (index, line) in reading.lines.enumerated() {
            guard line.isAuthentic, let record = line.record else { continue }
            if let first = bySequence[record.sequence] ?? (record.sequence <= (last?.sequence ?? 0) ? record : nil) {
                report.add(
                    .inserted, reading.segment,
                    first.code == record.code
                        ? "Line \(index + 1) is a copy of record \(record.sequence)."
                        : "Line \(index + 1) is another record \(record.sequence), of a log that went another way.")
                continue
            }
            bySequence[record.sequence] = record
            positions.append((index, record.sequence))
        }
        for (index, sequence) in Self.moved(positions) {
            report.add(.reordered, reading.segment, "Record \(sequence) was moved to line \(index + 1).")
        }
        return positions.sorted { $0.sequence < $1.sequence }.compactMap { bySequence[$0.sequence] }
    }

    /// The fewest records that must have been moved: all but those of a longest ascending row.
    private static func moved(_ positions: [(index: Int, sequence: Int)]) -> [(index: Int, sequence: Int)] {
        guard zip(positions, positions.dropFirst()).contains(where: { $0.sequence > $1.sequence }) else { return [] }
        // For each length the row whose end is the smallest, with links back.
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: positions.count)
        for (place, position) in positions.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if positions[ends[middle]].sequence < position.sequence { low = middle + 1 } else { high = middle }
            }
            before[place] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var stays: Set<Int> = []
        var place = ends.last
        while let current = place {
            stays.insert(current)
            place = before[current]
        }
        return positions.enumerated().filter { !stays.contains($0.offset) }.map(\.element)
    }

    /// The numbers that lack a record, behind the last one and between those that are there.
    private func gaps(in records: [AuditRecord], _ segment: Int, _ report: inout AuditReport) -> Set<Int> {
        var missing: Set<Int> = []
        var former = last
        for record in records {
            if let former {
                if record.sequence > former.sequence + 1 {
                    missing.formUnion(former.sequence + 1..<record.sequence)
                } else if record.before != former.code {
                    report.add(
                        .replaced, segment,
                        "Record \(record.sequence) does not follow the record \(former.sequence) that is there.")
                }
            } else if record.sequence > 1, record.action != AuditRecord.Entry.LogAction.segmentBegan.rawValue {
                // The first that is kept of a chain is the head of a segment, which names what it follows.
                report.add(.removed, segment, "The record that the segment began with was removed or changed.")
            }
            former = record
        }
        return missing.subtracting(changedBehind)
    }

    /// Lines that are not authentic: where a number is missing they are that record, changed; elsewhere they were put in.
    private mutating func judgeUnknown(
        _ reading: SegmentReading, _ kept: [AuditRecord], _ missing: inout Set<Int>, _ report: inout AuditReport
    ) {
        var former = last?.sequence ?? (kept.first.map { $0.sequence - 1 } ?? 0)
        var newest = kept.last?.sequence ?? former
        for (index, line) in reading.lines.enumerated() {
            if line.isAuthentic, let record = line.record {
                former = record.sequence
                continue
            }
            let claimed = line.record?.sequence
            let number = claimed.flatMap { missing.contains($0) ? $0 : nil } ?? former + 1
            if missing.remove(number) != nil || number > newest {
                report.add(.changed, reading.segment, "Record \(number) was changed.")
                former = number
                newest = max(newest, number)
                changedBehind.insert(number)
            } else {
                report.add(.inserted, reading.segment, "Line \(index + 1) was put in after record \(former).")
            }
        }
    }

    private func ranges(_ numbers: Set<Int>) -> [ClosedRange<Int>] {
        numbers.sorted().reduce(into: []) { ranges, number in
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
    }
}
