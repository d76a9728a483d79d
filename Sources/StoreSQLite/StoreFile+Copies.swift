import Domain
import Foundation

// Files on their way to becoming a store or a backup.

extension StoreFile {
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
