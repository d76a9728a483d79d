import Domain
import Foundation

/// Finds the store's file and makes sure that it is ours alone, before SQLite opens it.
enum StoreFile {
    /// The file's one true name: two names of one file must not get two locks.
    ///
    /// - Throws: `storeUnavailable` when its folder is not there.
    static func resolve(_ path: String) throws(ServiceError) -> String {
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
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path, reason(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, reason(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure(path, "it is not a file") }
        guard status.st_mode & 0o077 != 0 else { return }
        guard fchmod(descriptor, status.st_mode & 0o700) == 0 else {
            throw failure(path, "others may use it (\(reason(errno))); run `chmod 600` on it")
        }
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
}
