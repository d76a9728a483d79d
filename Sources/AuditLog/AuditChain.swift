import Domain
package import Foundation
import OpenSSL

/// The log's end: the segment that is written, and the record that the next one follows.
///
/// Its calls block; the writer's thread owns it.
struct AuditChain {
    let directory: AuditDirectory
    let bounds: AuditBounds
    private let calls: FileCalls
    let key: AuditKey
    private let instance: String
    /// The chains of which retention has left nothing: each head of a segment names them.
    private var expiredChains: Set<String>
    private var segment: AuditDirectory.Segment
    private var file: AuditFile
    /// Length of what is on the disk for good, in bytes.
    private var size: Int
    private var beganAt: Date
    /// Whether the file may hold more than that, of a write that has failed.
    private var hasRemains = false
    private(set) var sequence: Int
    private(set) var code: String

    /// The last record that is on the disk.
    var head: AuditHead {
        AuditHead(instance: instance, chain: key.chain, sequence: sequence, code: code)
    }

    /// The number of the segment that is written.
    var segmentNumber: Int { segment.number }

    /// Writes records behind the last one and waits until they are on the disk: all of them or none.
    ///
    /// - Throws: `AuditFileError`; the log then is as it was.
    mutating func append(_ entries: [AuditRecord.Entry], at now: Date) throws(AuditFileError) {
        try clearRemains()
        if size >= bounds.segmentBytes || now.timeIntervalSince(beganAt) >= bounds.segmentAge {
            try beginSegment(at: now, [:])
        }
        try write(entries)
    }

    private mutating func write(_ entries: [AuditRecord.Entry]) throws(AuditFileError) {
        var (bytes, sequence, before) = ([UInt8](), sequence, code)
        for entry in entries {
            sequence += 1
            let line = try Self.line(entry, sequence, before, key, file.path)
            bytes += line.bytes
            bytes.append(UInt8(ascii: "\n"))
            before = line.code
        }
        hasRemains = true
        do throws(AuditFileError) {
            try file.write(bytes, at: size)
        } catch {
            // The disk may take this even now; if not, the next write begins with it.
            try? clearRemains()
            throw error
        }
        hasRemains = false
        size += bytes.count
        (self.sequence, code) = (sequence, before)
    }

    /// Cuts off what stands behind the last record.
    mutating func cutOffRemains() throws(AuditFileError) {
        hasRemains = true
        try clearRemains()
    }

    /// Cuts off what a write that has failed may have left.
    mutating func clearRemains() throws(AuditFileError) {
        guard hasRemains else { return }
        try file.truncate(to: size)
        hasRemains = false
    }

    private static func line(
        _ entry: AuditRecord.Entry, _ sequence: Int, _ before: String, _ key: AuditKey, _ path: String
    ) throws(AuditFileError) -> (bytes: [UInt8], code: String) {
        do throws(OpenSSLError) {
            return try AuditRecord.line(entry, sequence: sequence, before: before, key: key)
        } catch {
            throw AuditFileError(path, "no authentication code: \(error)")
        }
    }
}

/// The last record of a log at some moment, as the journal keeps it: whoever has it can tell what was cut off or replaced.
package struct AuditHead: Sendable, Hashable, CustomStringConvertible {
    package let instance: String
    package let chain: String
    package let sequence: Int
    package let code: String

    package init(instance: String, chain: String, sequence: Int, code: String) {
        self.instance = instance
        self.chain = chain
        self.sequence = sequence
        self.code = code
    }
}

extension AuditHead {
    private static let title = "Audit head"

    /// One line that is fit for any log, and that ``init(in:)`` reads.
    package var description: String { "\(Self.title) \(instance) \(chain) \(sequence) \(code)" }

    /// The head that a line of a log tells, whatever else stands in it.
    package init?(in line: some StringProtocol) {
        guard let start = line.range(of: Self.title) else { return nil }
        let words = line[start.upperBound...].split(maxSplits: 4) { !($0.isHexDigit || $0 == "-") }
        guard words.count >= 4, let sequence = Int(words[2]), sequence > 0, words[0].count == 36, words[1].count == 16,
            words[3].count == AuditRecord.nothingBefore.count
        else { return nil }
        self.init(
            instance: String(words[0]), chain: String(words[1]), sequence: sequence, code: String(words[3]))
    }
}

/// How large and how old the parts of the log become.
package struct AuditBounds: Sendable {
    /// A segment of this length gets a successor, in bytes.
    package var segmentBytes = 16 << 20
    /// A segment of this age gets a successor, in seconds.
    package var segmentAge: TimeInterval = 24 * 3600
    /// How long records are kept at least, in seconds; nil for ever.
    package var retention: TimeInterval? = 400 * 24 * 3600
    /// Length of the reserve, in bytes; 0 for none.
    package var reserveBytes = 4 << 20
    /// How many records may wait in memory.
    package var maximumWaiting = 10_000

    package init() {}
}

/// Where the keys of chains come from.
package protocol AuditKeySource: Sendable {
    /// The key of a chain.
    ///
    /// - Throws: `AuditKeyError` when it cannot be had; a new chain begins then.
    func key(chain: String) throws(AuditKeyError) -> AuditKey
    /// Makes a key and keeps it for good.
    ///
    /// - Throws: `AuditKeyError`
    func make() throws(AuditKeyError) -> AuditKey
}

/// Why there is no key.
package struct AuditKeyError: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

// MARK: Segments

extension AuditChain {
    private init(
        _ directory: AuditDirectory, _ bounds: AuditBounds, _ calls: FileCalls, _ key: AuditKey, instance: String,
        expiredChains: Set<String> = [], segment: AuditDirectory.Segment, file: AuditFile, size: Int, beganAt: Date,
        sequence: Int, code: String
    ) {
        self.directory = directory
        self.bounds = bounds
        self.calls = calls
        self.key = key
        self.instance = instance
        self.expiredChains = expiredChains
        self.segment = segment
        self.file = file
        self.size = size
        self.beganAt = beganAt
        self.sequence = sequence
        self.code = code
    }

    /// Begins a chain with a segment of its own.
    ///
    /// `details`: why, and what came before.
    ///
    /// - Throws: `AuditFileError`
    static func begin(
        in directory: AuditDirectory, _ bounds: AuditBounds, _ calls: FileCalls, _ key: AuditKey, instance: String,
        segment number: Int, at now: Date, _ details: [String: String]
    ) throws(AuditFileError) -> AuditChain {
        let segment = AuditDirectory.Segment(number: number)
        let made = try makeSegment(
            segment, in: directory, calls, key, instance: instance, sequence: 1, before: AuditRecord.nothingBefore,
            at: now, details)
        return AuditChain(
            directory, bounds, calls, key, instance: instance, segment: segment, file: made.file, size: made.size,
            beganAt: now, sequence: 1, code: made.code)
    }

    /// Goes on with a chain behind a record.
    static func resume(
        in directory: AuditDirectory, _ bounds: AuditBounds, _ calls: FileCalls, _ key: AuditKey,
        _ end: AuditChainEnd
    ) throws(AuditFileError) -> AuditChain {
        AuditChain(
            directory, bounds, calls, key, instance: end.instance, expiredChains: end.expiredChains,
            segment: end.segment, file: try AuditFile(opening: directory.path(of: end.segment), calls), size: end.size,
            beganAt: end.beganAt,
            sequence: end.sequence, code: end.code)
    }

    /// Begins the next segment; its head is a record like the others, which names what the segment follows.
    mutating func beginSegment(at now: Date, _ details: [String: String]) throws(AuditFileError) {
        let next = AuditDirectory.Segment(number: segment.number + 1)
        var details = details
        if !expiredChains.isEmpty { details["expiredChains"] = expiredChains.sorted().joined(separator: " ") }
        let made = try Self.makeSegment(
            next, in: directory, calls, key, instance: instance, sequence: sequence + 1, before: code, at: now, details)
        (segment, file, size, beganAt) = (next, made.file, made.size, now)
        (sequence, code) = (sequence + 1, made.code)
        hasRemains = false
    }

    private static func makeSegment(
        _ segment: AuditDirectory.Segment, in directory: AuditDirectory, _ calls: FileCalls, _ key: AuditKey,
        instance: String, sequence: Int, before: String, at now: Date, _ details: [String: String]
    ) throws(AuditFileError) -> (file: AuditFile, size: Int, code: String) {
        var details = details
        details["segment"] = String(segment.number)
        details["instance"] = instance
        details["chain"] = key.chain
        let path = directory.path(of: segment)
        let line = try line(.init(.segmentBegan, at: now, details: details), sequence, before, key, path)
        let bytes = line.bytes + [UInt8(ascii: "\n")]
        // The newest is the one that is written: what a failure has left behind it, and could not remove, is in the way.
        try directory.remove(segment)
        let file = try AuditFile(creating: path, calls)
        do throws(AuditFileError) {
            try file.write(bytes, at: 0)
        } catch {
            try? directory.remove(segment)
            throw error
        }
        directory.synchronize()
        return (file, bytes.count, line.code)
    }

    /// Notes chains of which nothing will be left, in the head of a new segment, so that `verify` knows where they are.
    ///
    /// - Throws: `AuditFileError`
    mutating func note(expiredChains chains: Set<String>, at now: Date) throws(AuditFileError) {
        guard !chains.isSubset(of: expiredChains) else { return }
        let before = expiredChains
        expiredChains.formUnion(chains)
        do throws(AuditFileError) {
            try clearRemains()
            try beginSegment(at: now, [:])
        } catch {
            expiredChains = before
            throw error
        }
    }
}
