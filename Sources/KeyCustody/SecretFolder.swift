import Foundation
import JSON

/// The open directory of files with secrets: who can write it can replace them.
///
/// The checks read the open descriptor, and files are opened relative to it. So the directory that was checked is the one in use.
/// Directories above it are not checked.
final class SecretFolder {
    let path: String
    let descriptor: CInt

    /// Opens a directory to read its names.
    ///
    /// - Throws: the number of the system's error.
    convenience init(listing path: String) throws(SystemCallError) {
        try self.init(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    /// Opens a directory that only has to be searchable.
    ///
    /// - Throws: the number of the system's error.
    convenience init(_ path: String) throws(SystemCallError) {
        try self.init(path, Self.pathOnly | O_DIRECTORY | O_CLOEXEC)
    }

    private init(_ path: String, _ flags: CInt) throws(SystemCallError) {
        self.path = path.isEmpty ? "." : path
        descriptor = Foundation.open(self.path, flags)
        guard descriptor >= 0 else { throw SystemCallError(code: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// `O_PATH`, which Swift's module of the C library does not have; the number is the same on x86-64 and ARM64.
    ///
    /// Source: open(2), asm-generic/fcntl.h
    private static let pathOnly: CInt = 0o10_000_000
    /// `S_ISVTX`: only the owner of a file in the directory, or of the directory, may rename or remove it.
    private static let stickyBit: mode_t = 0o1000

    /// Checks the owner and the permissions.
    ///
    /// Other users must not be able to write the directory. The exception is a directory of root's with the sticky bit, in which
    /// nobody can replace another user's file; Kubernetes mounts secrets so.
    ///
    /// - Parameters:
    ///   - owners: the users who may own the directory; nil leaves the owner unchecked, and the group too.
    ///   - allowsGroupWrite: whether its group may write it.
    /// - Returns: what is wrong, and the fix; nil if nothing is.
    func problem(_ owners: SecretFileOwners?, allowsGroupWrite: Bool = false) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            return "the directory \(path) cannot be examined: \(SecretFile.systemError())"
        }
        if let problem = owners?.problem(of: status.st_uid, path) { return "the directory \(path) \(problem)" }
        let isOthersOnly = owners == nil || allowsGroupWrite
        let forbidden: mode_t = isOthersOnly ? 0o002 : 0o022
        let isSticky = status.st_mode & Self.stickyBit != 0
        guard status.st_mode & forbidden != 0, !(isSticky && status.st_uid == 0) else { return nil }
        return """
            other users can write the directory \(path) (permissions 0\(String(status.st_mode & 0o7777, radix: 8))) and so \
            replace the file; run: chmod \(isOthersOnly ? "o-w" : "go-w") \(path)
            """
    }

    /// The names in a directory that was opened for listing, without `.` and `..`; nil if it cannot be read.
    func names() -> [UntrustedText]? { UntrustedText.names(inDirectory: descriptor) }
}

/// Why the system refuses to open a file or directory: `errno`.
struct SystemCallError: Error {
    let code: CInt
}
