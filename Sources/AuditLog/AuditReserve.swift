import Foundation
import OpenSSL

/// A file with room on the disk of its own, for records that the log cannot take.
///
/// It holds lines as the log does, chained and authenticated as records of the reserve; the first one names its epoch, and
/// behind the last one are zeros. Its calls block; the writer's thread owns it.
struct AuditReserve {
    /// Room that is left free for the record that is written next: there is no longer one.
    private static let recordBytes = 4096
    /// How much is read at once while the end is looked for.
    private static let pieceBytes = 65_536

    let capacity: Int
    private let file: AuditFile
    private let key: AuditKey
    private var epoch = ""
    private var index = 0
    private var code = AuditRecord.nothingBefore
    private(set) var used = 0
    /// Behind this there are zeros and nothing else: a write that failed may have left something before it.
    private var extent = 0
    /// Whether it was begun to clear the reserve, and not ended.
    private var mustBeCleared = false

    /// Whether another record has room.
    var hasRoom: Bool { capacity - used >= Self.recordBytes && !mustBeCleared }

    /// How it stands.
    var status: AuditStatus.Reserve {
        AuditStatus.Reserve(capacity: capacity, used: used, free: hasRoom ? capacity - used : 0)
    }

    /// What a reserve held when it was opened.
    struct Content {
        /// In the order in which they were kept.
        var entries: [AuditRecord.Entry] = []
        /// Lines that nobody can tell to be ours.
        var unknownLines = 0
    }

    /// Opens the reserve, or makes it.
    ///
    /// Blocks.
    ///
    /// `capacity`: length of a new file, in bytes.
    ///
    /// - Throws: `AuditFileError`, also when the disk has no room for it.
    static func open(
        _ path: String, capacity: Int, key: AuditKey, _ calls: FileCalls
    ) throws(AuditFileError) -> (reserve: AuditReserve, content: Content) {
        if access(path, F_OK) != 0 {
            let file = try AuditFile(creating: path, calls)
            do throws(AuditFileError) {
                try file.allocate(capacity)
                try file.synchronize()
            } catch {
                unlink(path)
                throw error
            }
        }
        let file = try AuditFile(opening: path, calls)
        // One that is too short was made by a start that did not end, or by other settings.
        do throws(AuditFileError) {
            if try file.size() < capacity { try file.allocate(capacity) }
        } catch {
            // Where the disk has no room for more, what is there is better than nothing.
            guard try file.size() > recordBytes else { throw error }
        }
        var reserve = AuditReserve(capacity: try file.size(), file: file, key: key)
        let content = try reserve.read()
        return (reserve, content)
    }

    private init(capacity: Int, file: AuditFile, key: AuditKey) {
        self.capacity = capacity
        self.file = file
        self.key = key
    }

    private mutating func read() throws(AuditFileError) -> Content {
        extent = try endOfContent()
        // With a zero behind it: that is how a line is known which a crash left unfinished.
        let bytes = try file.read(from: 0, count: min(capacity, extent + 1))
        var content = Content()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            // Behind the last record are zeros; one that a crash left unfinished has some in it.
            guard !line.contains(0) else { break }
            used = min(capacity, line.endIndex + 1)
            guard let record = AuditRecord(line: Array(line)),
                (try? AuditRecord.isAuthentic(Array(line), key: key, .reserve)) == true, record.before == code,
                let place = record.reserved
            else {
                content.unknownLines += 1
                continue
            }
            (epoch, index, code) = (place.epoch, place.index, record.code)
            var entry = AuditRecord.Entry(record)
            entry.reservedBehind = record.sequence
            content.entries.append(entry)
        }
        return content
    }

    /// Where the zeros begin that reach to the end; mostly there is nothing else, and a start waits for this.
    private func endOfContent() throws(AuditFileError) -> Int {
        var end = capacity
        while end > 0 {
            let start = max(0, end - Self.pieceBytes)
            let piece = try file.read(from: start, count: end - start)
            if piece.reduce(0, |) != 0, let last = piece.lastIndex(where: { $0 != 0 }) { return start + last + 1 }
            end = start
        }
        return 0
    }

    /// Keeps as many entries as have room, from the first one on.
    ///
    /// `sequence`: the log's last record.
    ///
    /// - Returns: those that were kept, with their places.
    /// - Throws: `AuditFileError`; none was kept then.
    mutating func append(
        _ entries: [AuditRecord.Entry], behind sequence: Int
    ) throws(AuditFileError) -> [AuditRecord.Entry] {
        if mustBeCleared { try clear() }
        var (bytes, index, code, kept) = ([UInt8](), index, code, [AuditRecord.Entry]())
        let epoch = self.epoch.isEmpty ? String(UUID().uuidString.lowercased().prefix(8)) : self.epoch
        for entry in entries {
            guard capacity - used - bytes.count >= Self.recordBytes else { break }
            var entry = entry
            entry.reserved = AuditRecord.ReservePlace(epoch: epoch, index: index + 1)
            entry.reservedBehind = sequence
            do throws(OpenSSLError) {
                let line = try AuditRecord.line(entry, sequence: sequence, before: code, key: key, .reserve)
                guard line.bytes.count < Self.recordBytes else { break }
                bytes += line.bytes
                bytes.append(UInt8(ascii: "\n"))
                (index, code) = (index + 1, line.code)
            } catch {
                throw AuditFileError(file.path, "no authentication code: \(error)")
            }
            kept.append(entry)
        }
        guard !kept.isEmpty else { return [] }
        try clearRemains()
        extent = used + bytes.count
        try file.write(bytes, at: used)
        used = extent
        (self.epoch, self.index, self.code) = (epoch, index, code)
        return kept
    }

    /// Sees to it that nothing stands behind the last record which could be taken for another one.
    ///
    /// - Throws: `AuditFileError`
    mutating func clearRemains() throws(AuditFileError) {
        guard extent > used else { return }
        try file.write([UInt8](repeating: 0, count: extent - used), at: used)
        extent = used
    }

    /// Makes the reserve empty: what it held is in the log.
    ///
    /// - Throws: `AuditFileError`
    mutating func clear() throws(AuditFileError) {
        guard extent > 0 else { return }
        // What is cleared in part would hide what is written behind it from the next start.
        mustBeCleared = true
        try file.write([UInt8](repeating: 0, count: extent), at: 0)
        mustBeCleared = false
        (epoch, index, code, used, extent) = ("", 0, AuditRecord.nothingBefore, 0, 0)
    }
}
