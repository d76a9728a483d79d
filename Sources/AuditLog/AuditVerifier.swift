package import Foundation
import JSON
import OpenSSL

/// Finds out whether the log is as it was written.
///
/// Each record names the code of the record before it, and its own code is under a key that whoever can write the files has not.
/// So a record that was changed does not fit its code, one that was removed leaves a gap in the numbers, and one that was put in
/// or moved stands where its number does not belong. What was cut off the end leaves no trace in the files: the heads that the
/// journal keeps tell of it.
package struct AuditVerifier {
    private let directory: AuditDirectory
    private let keys: any AuditKeySource
    /// By chain and number: of a log that went on from an earlier copy, the journal knows several with one number.
    private let heads: [String: [Int: Set<AuditHead>]]
    private var report = AuditReport()
    /// The chain that is being looked at.
    private var chain: ChainProgress?
    /// Chains that a segment says it is of, verifiable or not.
    private var seen: Set<String> = []
    /// Chains of which an authentic record says that the retention has left nothing.
    private var expiredChains: Set<String> = []

    /// - Parameters:
    ///   - directory: the log.
    ///   - keys: of its chains.
    ///   - heads: what the journal says that the last records were.
    package init(directory: AuditDirectory, keys: any AuditKeySource, heads: [AuditHead] = []) {
        self.directory = directory
        self.keys = keys
        self.heads = Dictionary(grouping: heads, by: \.chain).mapValues {
            Dictionary(grouping: $0, by: \.sequence).mapValues(Set.init)
        }
        report.knownHeads = Set(heads).count
    }

    /// Looks at every record.
    ///
    /// Blocks for as long as reading takes.
    ///
    /// - Throws: `AuditFileError`, `OpenSSLError` when the files cannot be read or libcrypto fails.
    package mutating func verify() throws -> AuditReport {
        let irregular = try directory.irregularEntries()
        for entry in irregular {
            report.add(.inserted, nil, "\(entry.name) is \(entry.kind) and not a regular file; it was not read.")
        }
        let names = Set(irregular.map(\.name))
        let segments = try directory.segments().filter { !names.contains(UntrustedText($0.name)) }
        guard let first = segments.first else {
            report.add(.cutOff, nil, "There is no segment at all.")
            return report
        }
        var former: AuditDirectory.Segment?
        for segment in segments {
            if let former, segment.number > former.number + 1 {
                report.add(
                    .removed, nil, Self.segments(former.number + 1, segment.number - 1, "was removed", "were removed"))
            }
            try look(at: segment, isNewest: segment == segments.last)
            former = segment
        }
        endChain()
        if first.number > 1, report.expiredThrough < first.number - 1 {
            report.add(
                .removed, nil,
                Self.segments(report.expiredThrough + 1, first.number - 1, "was removed", "were removed")
                    + " No record says that the retention removed it.")
        }
        tellUnknownHeads()
        return report
    }

    private static func segments(_ first: Int, _ last: Int, _ one: String, _ many: String) -> String {
        first == last ? "Segment \(first) \(one)." : "Segments \(first) to \(last) \(many)."
    }

    // MARK: One segment

    private mutating func look(at segment: AuditDirectory.Segment, isNewest: Bool) throws {
        var lines = try SegmentLines(directory.path(of: segment))
        var reading = SegmentReading(segment: segment.number)
        while let line = try lines.next() {
            guard line.isWhole else {
                reading.tornBytes = line.bytes.count
                break
            }
            if reading.isEmpty { begin(segment, with: AuditRecord(line: line.bytes)) }
            let record = AuditRecord(line: line.bytes)
            let isAuthentic =
                if let key = chain?.key { try AuditRecord.isAuthentic(line.bytes, key: key) } else { false }
            reading.add(record, isAuthentic: isAuthentic)
        }
        report.segments += 1
        report.records += reading.count
        guard chain?.key != nil else {
            report.unverified += reading.count
            return
        }
        if reading.tornBytes > 0 {
            report.add(
                isNewest ? .torn : .changed, segment.number,
                "Its last line is not whole (\(reading.tornBytes) bytes): a crash while it was written, or a cut.")
        }
        chain?.take(reading, &report)
        for record in reading.authentic { note(record, in: segment.number) }
    }

    /// Takes up the chain that a segment says it is of.
    private mutating func begin(_ segment: AuditDirectory.Segment, with head: AuditRecord?) {
        let action = AuditRecord.Entry.LogAction.segmentBegan.rawValue
        guard let head, head.action == action, let name = head.details["chain"] else {
            report.add(.changed, segment.number, "It does not begin with the record that every segment begins with.")
            return
        }
        if head.details["segment"] != String(segment.number) {
            report.add(
                .reordered, segment.number, "It is segment \(head.details["segment"] ?? "?"), under another number.")
        }
        guard name != chain?.name else { return }
        endChain()
        seen.insert(name)
        do throws(AuditKeyError) {
            chain = ChainProgress(name: name, key: try keys.key(chain: name), first: segment.number)
        } catch {
            chain = ChainProgress(name: name, key: nil, first: segment.number)
            report.add(
                .unverifiable, segment.number, "Chain \(name) cannot be verified, its key cannot be had: \(error)")
        }
    }

    private mutating func note(_ record: AuditRecord, in segment: Int) {
        report.last = record.at
        if record.action == AuditRecord.Entry.LogAction.segmentsExpired.rawValue,
            let through = record.details["through"].flatMap(Int.init)
        {
            report.expiredThrough = max(report.expiredThrough, through)
        }
        if record.action == AuditRecord.Entry.LogAction.segmentBegan.rawValue {
            expiredChains.formUnion(record.expiredChains)
        }
        guard let known = heads[chain?.name ?? ""]?[record.sequence] else { return }
        let inPlace = known.count { $0.code == record.code }
        report.heads += inPlace
        if inPlace < known.count {
            report.add(
                .replaced, segment,
                "Record \(record.sequence) is authentic and not the one that the journal names: "
                    + "the log was cut off before it, and went on.")
        }
    }

    // MARK: Heads

    /// Tells what a chain lacks that the journal knows of.
    private mutating func endChain() {
        guard let chain, chain.key != nil, let known = heads[chain.name] else { return }
        let last = chain.last?.sequence ?? 0
        if let beyond = known.keys.filter({ $0 > last }).max() {
            report.add(
                .cutOff, chain.segment,
                last + 1 == beyond
                    ? "Record \(beyond) was cut off the end of chain \(chain.name)."
                    : "Records \(last + 1) to \(beyond) were cut off the end of chain \(chain.name).")
        }
    }

    /// Tells of chains that the journal knows and that are not there, unless retention has removed them.
    ///
    /// Those of another instance, too: whoever removes everything makes this instance another one.
    private mutating func tellUnknownHeads() {
        for name in heads.keys.sorted() where !seen.contains(name) && !expiredChains.contains(name) {
            let instance = heads[name]?.values.first?.first?.instance ?? ""
            report.add(
                .removed, nil,
                "Chain \(name), which the journal names, is not there at all. It is of instance \(instance).")
        }
    }
}

/// What was found out about a log.
package struct AuditReport: Sendable {
    /// What can be wrong with it.
    package enum Kind: String, Sendable {
        case changed
        case removed
        case inserted
        case reordered
        case cutOff
        /// Other authentic records stand in the place of those that the journal or the chain names.
        case replaced
        /// A crash may have left it so.
        case torn
        /// Nobody can tell.
        case unverifiable
    }

    /// One thing that is wrong.
    package struct Finding: Sendable, CustomStringConvertible {
        package let kind: Kind
        package let segment: Int?
        package let text: String

        package var description: String {
            let place = segment.map { "segment \($0): " } ?? ""
            return "\(kind.rawValue): \(place)\(text)"
        }
    }

    package private(set) var findings: [Finding] = []
    package var segments = 0
    package var records = 0
    /// Records of chains whose key cannot be had.
    package var unverified = 0
    /// Heads of the journal that were found in their place, and all that were to be looked for.
    package var heads = 0
    package var knownHeads = 0
    package var chains: Set<String> = []
    /// The time of the last authentic record.
    package var last: Date?
    var expiredThrough = 0

    /// Whether nothing is wrong; a torn end is none of anybody's doing.
    package var isSound: Bool { findings.allSatisfy { $0.kind == .torn } }

    mutating func add(_ kind: Kind, _ segment: Int?, _ text: String) {
        findings.append(Finding(kind: kind, segment: segment, text: text))
    }
}
