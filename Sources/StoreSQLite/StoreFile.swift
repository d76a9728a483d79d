import Domain
import Foundation
import Synchronization

/// Finds the store's file and makes sure that it is ours alone, before SQLite opens it.
enum StoreFile {
    /// The file's one true name: two names of one file must not get two locks.
    ///
    /// - Throws: `storeUnavailable` when its folder is not there, or root would follow somebody else's symbolic link.
    static func resolve(_ path: String) throws(ServiceError) -> String {
        var status = stat()
        if geteuid() == 0, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, status.st_uid != 0 {
            throw failure(path, "it is a symbolic link that is not root's, and root follows none; name the file itself")
        }
        if let existing = realPath(path) { return existing }
        let url = URL(filePath: path)
        let folder = url.deletingLastPathComponent().path(percentEncoded: false)
        guard let existing = realPath(folder) else {
            throw failure(path, "its folder \(folder): \(reason(errno))")
        }
        return URL(filePath: existing).appending(path: url.lastPathComponent).path(percentEncoded: false)
    }

    /// Creates the file with mode 0600 when it is not there, and takes everybody else's permissions from one that is;
    /// SQLite gives its companions the same mode.
    ///
    /// Call it with the store's lock held: closing a file drops all fcntl(2) locks that this process has on it, those of an
    /// open SQLite connection too.
    /// - Throws: `storeUnavailable` when it cannot be read and written, or is no file.
    static func prepare(_ path: String) throws(ServiceError) {
        let (descriptor, status) = try openOwn(path)
        defer { close(descriptor) }
        guard status.st_mode & 0o077 != 0 else { return }
        guard fchmod(descriptor, status.st_mode & 0o700) == 0 else {
            throw failure(path, "others may use it (\(reason(errno))); run `chmod 600` on it")
        }
    }

    /// Opens a file of ours to read and write, and creates it with mode 0600 when it is not there.
    ///
    /// A symbolic link is not followed: in the daemon's folder, root must not be led to another file.
    /// - Throws: `storeUnavailable` when it cannot be opened, or is no file.
    static func openOwn(_ path: String) throws(ServiceError) -> (descriptor: CInt, status: stat) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw failure(path, errno == ELOOP ? "it is a symbolic link, which is not followed" : reason(errno))
        }
        var status = stat()
        let code = fstat(descriptor, &status) == 0 ? 0 : errno
        guard code == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw failure(path, code == 0 ? "it is not a file" : reason(code))
        }
        return (descriptor, status)
    }

    static func failure(_ path: String, _ reason: String) -> ServiceError {
        ServiceError(.storeUnavailable, "The store \(path) cannot be opened: \(reason).", cause: reason)
    }

    /// The system's text for an error number.
    static func reason(_ code: CInt) -> String { String(cString: strerror(code)) }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    // MARK: Files on their way to becoming a store or a backup

    /// Creates an empty file with mode 0600.
    ///
    /// - Throws: `storeUnavailable` when there is one already, or it cannot be created.
    static func createNew(_ path: String) throws(ServiceError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ServiceError(.storeUnavailable, "The file \(path) cannot be created: \(reason(errno)).")
        }
        close(descriptor)
    }

    /// Makes sure that a file's content is on disk.
    ///
    /// - Throws: `storeUnavailable`.
    static func synchronize(_ path: String) throws(ServiceError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, reason(errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path, reason(errno)) }
    }

    /// Gives a file another name in its folder, in the place of what has the name; the change is on disk when this returns.
    ///
    /// - Throws: `storeUnavailable`.
    static func rename(_ path: String, to name: String) throws(ServiceError) {
        guard Foundation.rename(path, name) == 0 else { throw failure(name, reason(errno)) }
        try synchronize(folder(of: name))
    }

    /// The folder in which a file is.
    static func folder(of path: String) -> String {
        URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
    }

    /// Gives a file of root's to the owner of another one; anybody else's files are the right owner's already.
    ///
    /// - Throws: `storeUnavailable`.
    static func give(_ path: String, toOwnerOf model: String) throws(ServiceError) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard stat(model, &status) == 0, lchown(path, status.st_uid, status.st_gid) == 0 else {
            throw failure(path, "it cannot be given to the owner of \(model): \(reason(errno))")
        }
    }

    /// Removes a file of ours that failed, with the companions that SQLite may have given it.
    static func remove(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }
}

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
        let (descriptor, status): (CInt, stat)
        do throws(ServiceError) {
            (descriptor, status) = try StoreFile.openOwn(lockPath)
        } catch {
            throw StoreFile.failure(path, "its lock \(lockPath): \(error.cause ?? error.message)")
        }
        // It is written to, which must not reach a file of another name.
        guard status.st_nlink == 1 else {
            Foundation.close(descriptor)
            throw StoreFile.failure(path, "its lock \(lockPath): it has another name too (a hard link)")
        }
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
            if let open = descriptor {
                // Not by closing alone: a program that is being started has every descriptor too, until it runs.
                flock(open, LOCK_UN)
                Foundation.close(open)
            }
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
