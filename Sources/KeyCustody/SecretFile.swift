import Foundation
package import OpenSSL

/// Why a file with a secret cannot be used: which one, what is wrong and what to do.
package struct SecretFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package let path: String
    package let problem: String
    /// Whether a disk does not take it, which may mend itself; anything else is for somebody to put right.
    package let isOfDisk: Bool

    package init(path: String, problem: String, isOfDisk: Bool = false) {
        self.path = path
        self.problem = problem
        self.isOfDisk = isOfDisk
    }

    package var description: String { "\(path): \(problem)" }
}

/// Files with secrets, which nobody else may read.
package enum SecretFile {
    /// Reads a file whole, straight into memory that is wiped.
    ///
    /// The type, permissions and owner are those of the open file, and not of its name. The directory in which the name is, and the
    /// one in which the file is if the name is a symbolic link, must not be writable by other users.
    ///
    /// - Parameters:
    ///   - path: the file; symbolic links are followed, as Kubernetes makes them.
    ///   - allowsGroupRead: whether its group may read it too.
    ///   - owners: the users who may own the file and its directory; nil for a file that ``check`` has passed, or whose content is
    ///     sealed.
    ///   - maximumBytes: the size beyond which it is refused.
    /// - Returns: what it holds.
    /// - Throws: `SecretFileError`; where permissions are the problem it names the `chmod` or `chown` to run.
    package static func read(
        _ path: String, allowsGroupRead: Bool, owners: SecretFileOwners? = nil, maximumBytes: Int
    ) throws(SecretFileError) -> SecureBytes {
        let descriptor = try open(path, allowsGroupRead: allowsGroupRead, owners)
        defer { close(descriptor) }
        do throws(SecureBytesError) {
            return try SecureBytes(readingFrom: descriptor, maximumCount: maximumBytes)
        } catch {
            throw SecretFileError(path: path, problem: "\(error)")
        }
    }

    /// Checks a file without reading it: its type, permissions, owner and directory.
    ///
    /// - Throws: `SecretFileError`; where permissions are the problem it names the `chmod` or `chown` to run.
    package static func check(
        _ path: String, allowsGroupRead: Bool, owners: SecretFileOwners, allowsGroupWritableFolder: Bool = false
    ) throws(SecretFileError) {
        close(
            try open(
                path, allowsGroupRead: allowsGroupRead, owners, allowsGroupWritableFolder: allowsGroupWritableFolder))
    }

    /// What is wrong with a file's type, permissions, owner or directory, if anything.
    package static func permissionProblem(
        _ path: String, allowsGroupRead: Bool, owners: SecretFileOwners
    ) -> String? {
        do throws(SecretFileError) {
            try check(path, allowsGroupRead: allowsGroupRead, owners: owners)
            return nil
        } catch {
            return error.problem
        }
    }

    /// Creates a file that only its owner can read, fills it, and waits until it is on the disk.
    ///
    /// - Throws: `SecretFileError` when the file exists or cannot be written; it is then not there, or as it was.
    package static func create(_ content: SecureBytes, at path: String) throws(SecretFileError) {
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            throw SecretFileError(
                path: path, problem: code == EEXIST ? "it exists, and is not overwritten" : systemError(code),
                isOfDisk: code != EEXIST)
        }
        let failure = content.withUnsafeBytes { bytes in fill(descriptor, with: bytes) }
        let isClosed = close(descriptor) == 0
        guard failure == nil, isClosed else {
            let code = failure ?? errno
            remove(path)
            throw SecretFileError(path: path, problem: systemError(code), isOfDisk: true)
        }
        flushFolder(of: path)
    }

    /// Removes a file that is of no use any more; one that cannot be removed stays.
    package static func remove(_ path: String) { unlink(path) }

    /// Waits until the folder's own entry of a file is on the disk, too; a file system that knows no such thing needs none.
    static func flushFolder(of path: String) {
        let folder = Foundation.open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// The system's words for an error.
    static func systemError(_ code: CInt = errno) -> String { String(cString: strerror(code)) }

    /// Opens a file that passes every check.
    ///
    /// `attempts`: how often Kubernetes may replace a mounted secret between two system calls.
    private static func open(
        _ path: String, allowsGroupRead: Bool, _ owners: SecretFileOwners?, allowsGroupWritableFolder: Bool = false,
        attempts: Int = 3
    ) throws(SecretFileError) -> CInt {
        func refusal(_ problem: String) -> SecretFileError { SecretFileError(path: path, problem: problem) }
        let name = (path as NSString).lastPathComponent
        let folder: SecretFolder
        do throws(SystemCallError) {
            folder = try SecretFolder((path as NSString).deletingLastPathComponent)
        } catch {
            throw refusal("cannot open: \(systemError(error.code))")
        }
        if let problem = folder.problem(owners, allowsGroupWrite: allowsGroupWritableFolder) { throw refusal(problem) }
        var (link, status) = (stat(), stat())
        // Before it is opened: opening a device can have effects.
        guard fstatat(folder.descriptor, name, &link, AT_SYMLINK_NOFOLLOW) == 0,
            fstatat(folder.descriptor, name, &status, 0) == 0
        else { throw refusal("cannot open: \(systemError())") }
        guard isRegular(status) else { throw refusal("is not a regular file") }
        let isLink = link.st_mode & S_IFMT == S_IFLNK
        // In a directory with the sticky bit other users can add links.
        if isLink, let problem = owners?.problem(of: link.st_uid, path, isLink: true) {
            throw refusal("the symbolic link \(problem)")
        }
        // A named pipe in the place of the file would block the open until a writer comes.
        let descriptor = openat(folder.descriptor, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw refusal("cannot open: \(systemError())") }
        if let problem = problem(of: descriptor, path, allowsGroupRead: allowsGroupRead, owners) {
            close(descriptor)
            throw refusal(problem)
        }
        guard isLink else { return descriptor }
        switch realFolder(of: descriptor) {
        case .success(let real):
            guard let problem = real.problem(owners, allowsGroupWrite: allowsGroupWritableFolder) else {
                return descriptor
            }
            close(descriptor)
            throw refusal(problem)
        case .failure(let error):
            close(descriptor)
            guard error.code == ENOENT, attempts > 1 else {
                throw refusal(
                    "the directory that the symbolic link leads to cannot be examined: \(systemError(error.code))")
            }
            return try open(
                path, allowsGroupRead: allowsGroupRead, owners, allowsGroupWritableFolder: allowsGroupWritableFolder,
                attempts: attempts - 1)
        }
    }

    /// The directory in which an open file is.
    private static func realFolder(of descriptor: CInt) -> Result<SecretFolder, SystemCallError> {
        guard
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
        else { return .failure(SystemCallError(code: ENOSYS)) }
        return Result { () throws(SystemCallError) in
            try SecretFolder((path as NSString).deletingLastPathComponent)
        }
    }

    private static func isRegular(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    private static func problem(
        of descriptor: CInt, _ path: String, allowsGroupRead: Bool, _ owners: SecretFileOwners?
    ) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return "cannot examine: \(systemError())" }
        guard isRegular(status) else { return "is not a regular file" }
        if let problem = owners?.problem(of: status.st_uid, path) { return problem }
        let mode = status.st_mode & 0o777
        let forbidden: mode_t = allowsGroupRead ? 0o037 : 0o077
        guard mode & forbidden != 0 else { return nil }
        let wanted = allowsGroupRead ? "0440" : "0400"
        return "its permissions (0\(String(mode, radix: 8))) let others at the key; run: chmod \(wanted) \(path)"
    }

    /// Writes all bytes and waits until they are on the disk.
    ///
    /// - Returns: the number of the error, if one happened.
    private static func fill(_ descriptor: CInt, with bytes: UnsafeRawBufferPointer) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        return fsync(descriptor) == 0 ? nil : errno
    }
}
