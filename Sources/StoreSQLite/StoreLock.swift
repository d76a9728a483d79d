import Domain
import Foundation
import Synchronization

/// Keeps a second daemon off the same store.
///
/// An advisory lock (flock(2)) on a file beside the database, not SQLite's own exclusive mode: that would shut out the
/// online backup and the `sqlite3` shell too. The kernel drops it when the process dies, however it dies. The lock's file
/// stays: were it removed, two daemons could each lock a file of that name.
final class StoreLock: Sendable {
    private let descriptor: Mutex<CInt?>

    private init(descriptor: CInt) { self.descriptor = Mutex(descriptor) }

    deinit { release() }

    /// Takes the lock.
    ///
    /// - Throws: `storeUnavailable` naming the file and the process that holds it.
    static func acquire(for path: String) throws(ServiceError) -> StoreLock {
        let lockPath = fileName(for: path)
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFile.failure(path, "its lock \(lockPath): \(StoreFile.reason(errno))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let holder = readHolder(descriptor)
            Foundation.close(descriptor)
            guard code == EWOULDBLOCK else {
                throw StoreFile.failure(path, "its lock \(lockPath): \(StoreFile.reason(code))")
            }
            throw ServiceError(
                .storeUnavailable,
                "The store \(path) is in use by another Purser (process \(holder)); stop that one first.")
        }
        let holder = Array("\(getpid())\n".utf8)
        // The number only serves the message above; the lock holds without it.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, holder, holder.count, 0) }
        return StoreLock(descriptor: descriptor)
    }

    /// Takes the lock of a store that has been in use here; a file that never was, such as a backup, gets none.
    ///
    /// - Throws: as `acquire`.
    static func acquireIfPresent(for path: String) throws(ServiceError) -> StoreLock? {
        FileManager.default.fileExists(atPath: fileName(for: path)) ? try acquire(for: path) : nil
    }

    /// Lets the next one in; safe to call again.
    func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor { Foundation.close(open) }
            descriptor = nil
        }
    }

    /// The lock's file.
    static func fileName(for path: String) -> String { path + ".lock" }

    private static func readHolder(_ descriptor: CInt) -> String {
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let digits = buffer.prefix(max(0, count)).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return digits.isEmpty ? "unknown" : String(decoding: digits, as: UTF8.self)
    }
}
