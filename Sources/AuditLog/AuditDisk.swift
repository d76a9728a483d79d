import Domain
import Foundation
import Logging

/// The log, the reserve, and the records that are owed: what the writer's thread works with.
///
/// Its calls block.
struct AuditDisk {
    /// Records of one write at most.
    private static let batchSize = 1000

    private let directory: AuditDirectory
    private let reservePath: String
    private let bounds: AuditBounds
    private let calls: FileCalls
    private let keys: any AuditKeySource
    private let logger: Logger
    /// Held while the log is open: two who write one log would overwrite each other's records.
    private var lock: AuditFile?
    private var chain: AuditChain?
    private var reserve: AuditReserve?
    private var owed: OwedRecords
    private var problem: String?
    private var reserveProblem: String?
    /// When that problem began.
    private var failingSince: Date?

    init(
        directory: AuditDirectory, reservePath: String, bounds: AuditBounds, calls: FileCalls,
        keys: any AuditKeySource, logger: Logger
    ) {
        self.directory = directory
        self.reservePath = reservePath
        self.bounds = bounds
        self.calls = calls
        self.keys = keys
        self.logger = logger
        owed = OwedRecords(maximum: bounds.maximumWaiting)
    }

    /// How it stands.
    var status: AuditStatus {
        AuditStatus(
            head: chain?.head, segment: chain?.segmentNumber, problem: problem, owed: owed.count,
            lost: owed.lost, reserve: reserve?.status, reserveProblem: reserveProblem,
            isExhausted: problem != nil && !(reserve?.hasRoom ?? false))
    }

    /// Opens the log and the reserve, and takes up what an earlier run has owed.
    ///
    /// - Throws: `AuditFileError`, `AuditKeyError`, `OpenSSLError`.
    mutating func open(at now: Date) throws {
        guard chain == nil else { return }
        if lock == nil {
            try directory.prepare()
            lock = try AuditFile(locking: "\(directory.path)/lock")
        }
        let (chain, findings) = try AuditChain.open(in: directory, bounds, calls, keys: keys, at: now)
        for finding in findings { tell(finding, at: now) }
        let content = openReserve(chain)
        owed.takeUp(content.entries)
        var heads = AuthenticHeads(directory, keys: keys)
        owed.remove(try chain.written(owed.entries, &heads))
        owed.lost += content.unknownLines
        self.chain = chain
    }

    private mutating func tell(_ finding: AuditFinding, at now: Date) {
        switch finding {
        case .firstChain: logger.notice("\(finding)")
        case .newChain, .damagedEnd: logger.error("\(finding)")
        case .tornRecord(let bytes):
            logger.warning("\(finding)")
            owed.add([.init(.tornRecordRemoved, at: now, details: ["bytes": String(bytes)])])
        }
    }

    private mutating func openReserve(_ chain: AuditChain) -> AuditReserve.Content {
        guard bounds.reserveBytes > 0 else { return .init() }
        do throws(AuditFileError) {
            let (reserve, content) = try AuditReserve.open(
                reservePath, capacity: bounds.reserveBytes, key: chain.key, calls)
            self.reserve = reserve
            return content
        } catch {
            logger.warning(
                "The audit has no reserve: once it cannot be written, no token is signed either",
                metadata: ["cause": "\(error)"])
            return .init()
        }
    }

    /// Writes what is owed, and then these entries: all of these or none.
    ///
    /// - Returns: of how many acts the record is on the disk that was not before.
    /// - Throws: `AuditFileError`, `AuditKeyError`, `OpenSSLError`; ``status`` then names the problem.
    @discardableResult
    mutating func write(_ entries: [AuditRecord.Entry], at now: Date) throws -> Int {
        do {
            try open(at: now)
            let count = try writeOwed(at: now)
            if !entries.isEmpty { try chain?.append(entries, at: now) }
            // A reserve that failed before is tried again where nobody waits for it.
            if reserveProblem == nil || entries.isEmpty { clearReserve() }
            return count + entries.count
        } catch {
            if problem == nil { logger.error("The audit cannot be written", metadata: ["cause": "\(error)"]) }
            if failingSince == nil { failingSince = now }
            problem = "\(error)"
            throw error
        }
    }

    /// Writes what is owed, and before it, after a failure, that the log can be written again.
    private mutating func writeOwed(at now: Date) throws(AuditFileError) -> Int {
        var count = 0
        while failingSince != nil || !owed.isEmpty {
            var entries = owed.first(Self.batchSize)
            let owedCount = entries.count
            if let failingSince {
                // With what is owed, so that nothing is said before the disk has taken that.
                let details = ["since": failingSince.formatted(.iso8601)]
                entries.insert(.init(.writingResumed, at: now, details: details), at: 0)
            }
            try chain?.append(entries, at: now)
            if failingSince != nil { logger.notice("The audit can be written again") }
            (problem, failingSince) = (nil, nil)
            owed.removeFirst(owedCount)
            count += owedCount
        }
        if owed.lost > 0 {
            try chain?.append([.init(.recordsLost, at: now, details: ["count": String(owed.lost)])], at: now)
            owed.lost = 0
        }
        return count
    }

    /// Empties the reserve: what it held is in the log, and is known there by its place if this fails.
    private mutating func clearReserve() {
        useReserve { reserve throws(AuditFileError) in try reserve.clear() }
    }

    /// Keeps entries of acts that have happened, or will, until the log takes them.
    mutating func owe(_ entries: [AuditRecord.Entry]) {
        let lasting = entries.filter { !$0.mayBeForgotten }
        var kept: [AuditRecord.Entry] = []
        if !lasting.isEmpty {
            let sequence = chain?.sequence ?? 0
            kept = useReserve { reserve throws(AuditFileError) in try reserve.append(lasting, behind: sequence) } ?? []
        }
        owed.add(reserved: kept)
        owed.add(lasting.dropFirst(kept.count) + entries.filter(\.mayBeForgotten))
    }

    /// Does something with the reserve; that it fails is told when it begins, and stops nothing.
    @discardableResult
    private mutating func useReserve<Value>(
        _ body: (inout AuditReserve) throws(AuditFileError) -> Value
    ) -> Value? {
        guard var used = reserve else { return nil }
        defer { reserve = used }
        do throws(AuditFileError) {
            let value = try body(&used)
            if reserveProblem != nil { logger.notice("The audit's reserve can be written again") }
            reserveProblem = nil
            return value
        } catch {
            if reserveProblem == nil {
                logger.error("The audit's reserve cannot be written", metadata: ["cause": "\(error)"])
            }
            reserveProblem = "\(error)"
            return nil
        }
    }

    /// Lets others write the log; not while it holds what they would take for records.
    mutating func close() {
        do throws(AuditFileError) {
            try chain?.clearRemains()
            try reserve?.clearRemains()
            (chain, reserve, lock) = (nil, nil, nil)
        } catch {
            logger.error(
                "The audit stays open: what a failed write has left cannot be removed", metadata: ["cause": "\(error)"])
        }
    }

    /// Removes segments that have been kept long enough.
    ///
    /// - Returns: how many.
    /// - Throws: `AuditFileError`
    mutating func expire(at now: Date) throws(AuditFileError) -> Int {
        var heads = AuthenticHeads(directory, keys: keys)
        return try chain?.expire(at: now, &heads) ?? 0
    }
}
