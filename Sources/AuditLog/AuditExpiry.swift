import Foundation
import OpenSSL

// Removing what has been kept long enough: decided by what the log has written itself, and by nothing else.

/// Reads the records that segments begin with, and believes those alone that are authentic.
///
/// Who can change a file must not be able to have evidence removed, or a name taken from it into later records.
struct AuthenticHeads {
    private let directory: AuditDirectory
    private let keys: any AuditKeySource
    /// By chain; nil where it cannot be had.
    private var known: [String: AuditKey?] = [:]

    init(_ directory: AuditDirectory, keys: any AuditKeySource) {
        self.directory = directory
        self.keys = keys
    }

    /// The record that a segment begins with; nil where it is not authentic, or is another segment's.
    ///
    /// - Throws: `AuditFileError`
    mutating func head(of segment: AuditDirectory.Segment) throws(AuditFileError) -> AuditRecord? {
        var lines = try SegmentLines(directory.path(of: segment))
        guard let line = try lines.next(), line.isWhole, let record = AuditRecord(line: line.bytes),
            record.action == AuditRecord.Entry.LogAction.segmentBegan.rawValue,
            record.details["segment"] == String(segment.number), let chain = record.details["chain"],
            let key = key(of: chain), (try? AuditRecord.isAuthentic(line.bytes, key: key)) == true
        else { return nil }
        return record
    }

    /// The newest of a chain that is there.
    ///
    /// - Throws: `AuditFileError`
    mutating func newest(of chain: String) throws(AuditFileError) -> AuditRecord? {
        for segment in try directory.segments().reversed() {
            if let head = try head(of: segment), head.details["chain"] == chain { return head }
        }
        return nil
    }

    private mutating func key(of chain: String) -> AuditKey? {
        if let key = known[chain] { return key }
        let key = try? keys.key(chain: chain)
        known[chain] = .some(key)
        return key
    }
}

extension AuditRecord {
    /// Of a segment's head: the chains of which retention has left nothing.
    var expiredChains: Set<String> { Set((details["expiredChains"] ?? "").split(separator: " ").map(String.init)) }
}

extension AuditChain {
    /// Removes the oldest segments whose records are all older than the retention, and records that first.
    ///
    /// All records before a segment are older than its first one. So what decides is the newest segment whose head is older than
    /// the retention, and authentic; a head that is not, because of a change or because its key is lost, decides nothing.
    ///
    /// - Returns: how many were removed.
    /// - Throws: `AuditFileError`
    mutating func expire(at now: Date, _ heads: inout AuthenticHeads) throws(AuditFileError) -> Int {
        guard let retention = bounds.retention else { return 0 }
        let segments = try directory.segments()
        var chains: [Set<String>] = []
        var end: Int?
        for (index, segment) in segments.enumerated() {
            let head = try heads.head(of: segment)
            chains.append(Set(["chain", "formerChain"].compactMap { head?.details[$0] }))
            guard let head, index > 0 else { continue }
            guard now.timeIntervalSince(head.at) > retention else { break }
            end = index
        }
        guard let end, let last = segments[..<end].last else { return 0 }
        // Those of the first that is kept, too: it names the chain before it, whose own heads may be beyond judging.
        var gone = Set(chains[...end].joined()).subtracting([key.chain])
        for segment in segments[end...] where !gone.isEmpty {
            if let chain = try heads.head(of: segment)?.details["chain"] { gone.remove(chain) }
        }
        try note(expiredChains: gone, at: now)
        let entry = AuditRecord.Entry(.segmentsExpired, at: now, details: ["through": String(last.number)])
        try append([entry], at: now)
        for segment in segments[..<end] { try directory.remove(segment) }
        directory.synchronize()
        return end
    }
}
