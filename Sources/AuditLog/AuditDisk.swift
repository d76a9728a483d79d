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
    /// Of acts that have happened, oldest first.
    private var owed: [AuditRecord.Entry] = []
    private var lost = 0
    private var problem: String?
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
    }

    /// How it stands.
    var status: AuditStatus {
        AuditStatus(
            head: chain?.head, segment: chain?.segmentNumber, problem: problem, owed: owed.count, lost: lost,
            reserve: reserve.map { ($0.capacity, $0.used) },
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
        let written = content.entries.isEmpty ? [] : try chain.reservedPlaces()
        self.chain = chain
        owed = content.entries.filter { entry in !written.contains { $0 == entry.reserved } } + owed
        lost += content.unknownLines
    }

    private mutating func tell(_ finding: AuditFinding, at now: Date) {
        switch finding {
        case .firstChain: logger.notice("\(finding)")
        case .newChain, .damagedEnd: logger.error("\(finding)")
        case .tornRecord(let bytes):
            logger.warning("\(finding)")
            owed.append(.init(.tornRecordRemoved, at: now, details: ["bytes": String(bytes)]))
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
    /// - Throws: `AuditFileError`, `AuditKeyError`, `OpenSSLError`; ``status`` then names the problem.
    mutating func write(_ entries: [AuditRecord.Entry], at now: Date) throws {
        do {
            try open(at: now)
            if let failingSince { try resume(from: failingSince, at: now) }
            try writeOwed(at: now)
            if !entries.isEmpty { try chain?.append(entries, at: now) }
        } catch {
            if problem == nil { logger.error("The audit cannot be written", metadata: ["cause": "\(error)"]) }
            if failingSince == nil { failingSince = now }
            problem = "\(error)"
            throw error
        }
    }

    /// Finds out whether the log can be written again, by a record that says so.
    private mutating func resume(from start: Date, at now: Date) throws(AuditFileError) {
        let details = ["since": start.formatted(.iso8601)]
        try chain?.append([.init(.writingResumed, at: now, details: details)], at: now)
        (problem, failingSince) = (nil, nil)
        logger.notice("The audit can be written again")
    }

    private mutating func writeOwed(at now: Date) throws(AuditFileError) {
        while !owed.isEmpty {
            let batch = Array(owed.prefix(Self.batchSize))
            try chain?.append(batch, at: now)
            owed.removeFirst(batch.count)
        }
        if lost > 0 {
            try chain?.append([.init(.recordsLost, at: now, details: ["count": String(lost)])], at: now)
            lost = 0
        }
        try reserve?.clear()
    }

    /// Keeps entries of acts that have happened, or will, until the log takes them.
    mutating func owe(_ entries: [AuditRecord.Entry]) {
        func mayBeForgotten(_ entry: AuditRecord.Entry) -> Bool {
            AuditAct.Action(rawValue: entry.action)?.mayBeForgotten ?? false
        }
        let lasting = entries.filter { !mayBeForgotten($0) }
        let kept = (try? reserve?.append(lasting)) ?? []
        owed += kept
        let others = lasting.dropFirst(kept.count) + entries.filter(mayBeForgotten)
        let room = max(0, bounds.maximumWaiting - owed.count)
        owed += others.prefix(room)
        lost += max(0, others.count - room)
    }

    /// Lets others write the log.
    mutating func close() { (chain, reserve, lock) = (nil, nil, nil) }

    /// Removes segments that have been kept long enough.
    ///
    /// - Returns: how many.
    /// - Throws: `AuditFileError`
    mutating func expire(at now: Date) throws(AuditFileError) -> Int { try chain?.expire(at: now) ?? 0 }
}
