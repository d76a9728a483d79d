import Foundation
import GRDB
import GRDBSQLite

/// Puts ``GatheredLog`` between SQLite and the system, for write-ahead logs; every other file is the system's own.
///
/// GRDB names no virtual file system when it opens a database, so that this one becomes the process's default.
///
/// Source: https://www.sqlite.org/vfs.html
enum LogGathering {
    /// How SQLite calls it; a connection that asks for `unix` goes without.
    static let name = "purser"

    /// What SQLite has for an open log, followed by the system's own file.
    private struct Header {
        var file: sqlite3_file
        var log: Unmanaged<GatheredLog>
    }

    /// Where the system's own file begins.
    private static let offset = MemoryLayout<Header>.stride

    /// The default of before.
    ///
    /// Unsafe in name: SQLite registers it once and keeps it for as long as the process runs; nobody here writes to it.
    private nonisolated(unsafe) static let system: UnsafeMutablePointer<sqlite3_vfs>? = {
        sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(nil) : nil
    }()

    /// SQLite keeps the pointers that it is given for as long as the process runs.
    private static let installation: Int32 = {
        guard let system else { return SQLITE_ERROR }
        let gathering = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        gathering.initialize(to: system.pointee)
        gathering.pointee.zName = UnsafePointer(strdup(name))
        gathering.pointee.szOsFile += Int32(offset)
        gathering.pointee.pNext = nil
        gathering.pointee.xOpen = { _, path, file, flags, outFlags in
            LogGathering.open(path, file, flags, outFlags)
        }
        return sqlite3_vfs_register(gathering, 1)
    }()

    /// Makes it the default for databases that are opened from now on.
    ///
    /// - Throws: `DatabaseError`
    static func install() throws {
        guard installation == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: installation)) }
    }

    /// Opens a file in the place that SQLite has for it.
    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let system, let file else { return SQLITE_MISUSE }
        guard flags & SQLITE_OPEN_WAL != 0 else { return system.pointee.xOpen(system, path, file, flags, outFlags) }
        let own = systemFile(file)
        let code = system.pointee.xOpen(system, path, own, flags, outFlags)
        // Without methods SQLite closes nothing.
        file.pointee.pMethods = nil
        guard code == SQLITE_OK else { return code }
        UnsafeMutableRawPointer(file).initializeMemory(
            as: Header.self,
            to: Header(file: sqlite3_file(pMethods: methods), log: .passRetained(GatheredLog(own))))
        return SQLITE_OK
    }

    private static func systemFile(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<sqlite3_file> {
        (UnsafeMutableRawPointer(file) + offset).assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func log(_ file: UnsafeMutablePointer<sqlite3_file>) -> Unmanaged<GatheredLog> {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self).pointee.log
    }

    /// What SQLite calls for an open log: version 1, since shared memory and mapping are the database's.
    ///
    /// Unsafe in name: filled before anybody sees it, and never written again nor given back.
    private nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 1
        methods.pointee.xClose = { file in
            guard let file else { return SQLITE_MISUSE }
            // Whatever has gathered is of no transaction that has ended.
            LogGathering.log(file).release()
            let own = LogGathering.systemFile(file)
            return own.pointee.pMethods.pointee.xClose(own)
        }
        methods.pointee.xRead = { file, bytes, count, offset in
            LogGathering.flushed(file) { $0.pointee.pMethods.pointee.xRead($0, bytes, count, offset) }
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            guard let file else { return SQLITE_MISUSE }
            return LogGathering.log(file).takeUnretainedValue()
                .write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: offset)
        }
        methods.pointee.xTruncate = { file, size in
            LogGathering.flushed(file) { $0.pointee.pMethods.pointee.xTruncate($0, size) }
        }
        methods.pointee.xSync = { file, flags in
            LogGathering.flushed(file) { $0.pointee.pMethods.pointee.xSync($0, flags) }
        }
        methods.pointee.xFileSize = { file, size in
            LogGathering.flushed(file) { $0.pointee.pMethods.pointee.xFileSize($0, size) }
        }
        methods.pointee.xLock = { file, lock in
            LogGathering.flushed(file) { $0.pointee.pMethods.pointee.xLock($0, lock) }
        }
        methods.pointee.xUnlock = { file, lock in
            LogGathering.flushed(file) { $0.pointee.pMethods.pointee.xUnlock($0, lock) }
        }
        methods.pointee.xCheckReservedLock = { file, isReserved in
            LogGathering.flushed(file) { $0.pointee.pMethods.pointee.xCheckReservedLock($0, isReserved) }
        }
        methods.pointee.xFileControl = { file, operation, argument in
            LogGathering.flushed(file) { $0.pointee.pMethods.pointee.xFileControl($0, operation, argument) }
        }
        methods.pointee.xSectorSize = { file in
            guard let file else { return 0 }
            let own = LogGathering.systemFile(file)
            return own.pointee.pMethods.pointee.xSectorSize(own)
        }
        methods.pointee.xDeviceCharacteristics = { file in
            guard let file else { return 0 }
            let own = LogGathering.systemFile(file)
            return own.pointee.pMethods.pointee.xDeviceCharacteristics(own)
        }
        return UnsafePointer(methods)
    }()

    /// Does something with the system's file that needs all of it there.
    private static func flushed(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ work: (UnsafeMutablePointer<sqlite3_file>) -> Int32
    ) -> Int32 {
        guard let file else { return SQLITE_MISUSE }
        let code = log(file).takeUnretainedValue().flush()
        return code == SQLITE_OK ? work(systemFile(file)) : code
    }
}
