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
    /// The permissions are those of the file that is read, not of the name: they are taken from the open descriptor.
    ///
    /// - Parameters:
    ///   - path: the file; symbolic links are followed, as Kubernetes makes them.
    ///   - allowsGroupRead: whether its group may read it too.
    ///   - maximumBytes: the size beyond which it is refused.
    /// - Returns: what it holds.
    /// - Throws: `SecretFileError`; where permissions are the problem it names the `chmod` to run.
    package static func read(
        _ path: String, allowsGroupRead: Bool, maximumBytes: Int
    ) throws(SecretFileError) -> SecureBytes {
        let descriptor = try open(path)
        defer { close(descriptor) }
        if let problem = permissionProblem(of: descriptor, path, allowsGroupRead: allowsGroupRead) {
            throw SecretFileError(path: path, problem: problem)
        }
        do throws(SecureBytesError) {
            return try SecureBytes(readingFrom: descriptor, maximumCount: maximumBytes)
        } catch {
            throw SecretFileError(path: path, problem: "\(error)")
        }
    }

    /// What is wrong with a file's type or permissions, if anything.
    package static func permissionProblem(_ path: String, allowsGroupRead: Bool) -> String? {
        do throws(SecretFileError) {
            let descriptor = try open(path)
            defer { close(descriptor) }
            return permissionProblem(of: descriptor, path, allowsGroupRead: allowsGroupRead)
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

    private static func open(_ path: String) throws(SecretFileError) -> CInt {
        // A pipe would keep the start waiting for somebody who writes.
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw SecretFileError(path: path, problem: "cannot open: \(systemError())")
        }
        return descriptor
    }

    private static func permissionProblem(of descriptor: CInt, _ path: String, allowsGroupRead: Bool) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return "cannot examine: \(systemError())" }
        guard status.st_mode & S_IFMT == S_IFREG else { return "is not a regular file" }
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
