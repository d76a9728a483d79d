import Foundation

/// Notices that a file of the open store was removed, renamed or replaced.
///
/// SQLite goes on with what it has open, and so would we: what was promised then would be gone with the process.
final class StoreFileWatch: Sendable {
    /// Why nothing may be promised any more.
    struct Moved: Error, CustomStringConvertible {
        let path: String
        let isReplaced: Bool

        var description: String {
            isReplaced ? "another file is at \(path) than the one that is open" : "\(path) was removed or renamed"
        }
    }

    private struct File {
        let path: String
        let (device, inode): (dev_t, ino_t)
    }

    private let files: [File]

    /// Remembers the files of a store that is open: the database, what SQLite has beside it, and the lock.
    init(_ path: String) {
        files = [path, path + "-wal", path + "-shm", StoreLock.fileName(for: path)].compactMap { path in
            var status = stat()
            return stat(path, &status) == 0
                ? File(path: path, device: status.st_dev, inode: status.st_ino) : nil
        }
    }

    /// Looks at each file by its name; about a microsecond each.
    ///
    /// - Throws: ``Moved``, when the next start would find another file, or none.
    func check() throws(Moved) {
        for file in files {
            var status = stat()
            guard stat(file.path, &status) == 0 else {
                // What cannot be looked at for another reason is where it was, as far as anybody knows.
                guard errno == ENOENT || errno == ENOTDIR else { continue }
                throw Moved(path: file.path, isReplaced: false)
            }
            guard status.st_dev == file.device, status.st_ino == file.inode else {
                throw Moved(path: file.path, isReplaced: true)
            }
        }
    }
}
