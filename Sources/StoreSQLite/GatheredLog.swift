import Foundation
import GRDBSQLite

/// A write-ahead log whose pages go to the file many at a time.
///
/// SQLite writes each page of a transaction with two calls of the system, one for its frame's header of 24 bytes and one for
/// the page, and a small transaction has fifteen pages. What continues the log gathers here instead, up to the end of the
/// transaction: no other connection looks for a page before SQLite has put it into the log's index, and it does that after
/// the last page was written. So when the last page has been taken, or the file is read, synced or measured, everything is
/// in it.
///
/// Confined to the connection that opened it, as every file of SQLite's.
///
/// Source: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
final class GatheredLog {
    /// How much gathers at most: sixteen frames of the usual page size.
    private static let capacity = 16 * (frameHeaderSize + 4096)
    private static let frameHeaderSize = 24
    /// In a frame's header: the pages of the database after the transaction, or zeros if more frames follow.
    private static let sizeAfterCommit = 4..<8

    private let file: UnsafeMutablePointer<sqlite3_file>
    private var gathered: [UInt8] = []
    /// Where what is gathered belongs.
    private var start: Int64 = 0
    /// Where the last write ended; nil if what comes next does not continue it.
    private var end: Int64?
    /// Whether the last write was the header of a transaction's last frame, so that its page is next.
    private var isLastFrame = false

    /// `file`: the log itself, open.
    init(_ file: UnsafeMutablePointer<sqlite3_file>) { self.file = file }

    /// Takes what is to be written.
    ///
    /// - Returns: SQLite's code: the failure of this write, or of earlier ones that were gathered.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        let endsTransaction = isLastFrame
        isLastFrame = bytes.count == Self.frameHeaderSize && bytes[Self.sizeAfterCommit].contains { $0 != 0 }
        guard offset == end else {
            let code = flush()
            guard code == SQLITE_OK else { return code }
            end = offset + Int64(bytes.count)
            return writeThrough(bytes, at: offset)
        }
        if gathered.count + bytes.count > Self.capacity {
            let code = flush()
            guard code == SQLITE_OK else { return code }
        }
        if gathered.isEmpty {
            start = offset
            gathered.reserveCapacity(Self.capacity)
        }
        gathered.append(contentsOf: bytes)
        end = offset + Int64(bytes.count)
        return endsTransaction ? flush() : SQLITE_OK
    }

    /// Writes what is gathered; to be called before anything else is done with the file.
    ///
    /// - Returns: SQLite's code. What could not be written is given up, as SQLite gives the transaction up.
    func flush() -> Int32 {
        guard !gathered.isEmpty else { return SQLITE_OK }
        defer { gathered.removeAll(keepingCapacity: true) }
        return gathered.withUnsafeBytes { writeThrough($0, at: start) }
    }

    private func writeThrough(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        let code = file.pointee.pMethods.pointee.xWrite(file, bytes.baseAddress, Int32(bytes.count), offset)
        if code != SQLITE_OK { end = nil }
        return code
    }
}
