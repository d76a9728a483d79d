import Foundation
import OpenSSL

/// What was found when a log was opened, for the log of the service.
package enum AuditFinding: Sendable, Equatable, CustomStringConvertible {
    /// There was no log yet.
    case firstChain
    /// The key of the former chain cannot be had: a new chain began.
    case newChain(former: String, cause: String)
    /// The beginning or the end of a segment is not what was written: a new segment began behind the last record that is.
    case damagedEnd(segment: Int, lines: Int)
    /// A crash had left a record unfinished.
    case tornRecord(bytes: Int)

    package var description: String {
        switch self {
        case .firstChain: "The audit begins"
        case .newChain(let former, let cause):
            "A new chain of the audit begins: the key of chain \(former) cannot be had: \(cause)"
        case .damagedEnd(let segment, let lines):
            "The audit was changed: \(lines) lines of segment \(segment) are none of ours; run: purser audit verify"
        case .tornRecord(let bytes): "A record of the audit that a crash left unfinished was cut off (\(bytes) bytes)"
        }
    }
}

extension AuditChain {
    /// Opens the log of a directory, or begins it.
    ///
    /// Blocks.
    ///
    /// `directory`: one that is prepared.
    ///
    /// Result: the log's end, and what was found.
    ///
    /// - Throws: `AuditFileError`, `AuditKeyError`, `OpenSSLError`.
    static func open(
        in directory: AuditDirectory, _ bounds: AuditBounds, _ calls: FileCalls, keys: some AuditKeySource, at now: Date
    ) throws -> (AuditChain, [AuditFinding]) {
        var segments = try directory.segments()
        // A crash while a segment was made has left one without a record.
        while let newest = segments.last, try directory.isWithoutRecord(newest) {
            try directory.remove(newest)
            segments.removeLast()
        }
        guard let newest = segments.last else {
            let chain = try begin(
                in: directory, bounds, calls, keys.make(), instance: UUID().uuidString.lowercased(), segment: 1,
                at: now, [:])
            return (chain, [.firstChain])
        }
        var heads = AuthenticHeads(directory, keys: keys)
        let head = try AuditChainEnd.head(of: newest, in: directory)
        let former = head?.details["chain"] ?? "unknown"
        do {
            guard let head else { throw AuditKeyError("\(newest) does not begin as a segment does") }
            let key = try keys.key(chain: former)
            guard let end = try AuditChainEnd(of: newest, head, in: directory, key: key, &heads) else {
                throw AuditKeyError("no record at the end of \(newest) is authentic")
            }
            return try resume(end, in: directory, bounds, calls, key, at: now)
        } catch let error as AuditKeyError {
            let chain = try begin(
                in: directory, bounds, calls, keys.make(),
                instance: head?.details["instance"] ?? UUID().uuidString.lowercased(), segment: newest.number + 1,
                at: now, ["formerChain": former, "cause": error.description])
            return (chain, [.newChain(former: former, cause: error.description)])
        }
    }

    private static func resume(
        _ end: AuditChainEnd, in directory: AuditDirectory, _ bounds: AuditBounds, _ calls: FileCalls, _ key: AuditKey,
        at now: Date
    ) throws(AuditFileError) -> (AuditChain, [AuditFinding]) {
        var chain = try resume(in: directory, bounds, calls, key, end)
        if end.unknownLines > 0 {
            try chain.beginSegment(at: now, ["unknownLines": String(end.unknownLines)])
            return (chain, [.damagedEnd(segment: end.segment.number, lines: end.unknownLines)])
        }
        guard end.tornBytes > 0 else { return (chain, []) }
        try chain.cutOffRemains()
        return (chain, [.tornRecord(bytes: end.tornBytes)])
    }
}
