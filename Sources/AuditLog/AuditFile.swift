import Foundation

/// An open file of the audit; every byte that the system did not take is an error.
///
/// Its calls block: they are for threads that may.
final class AuditFile: Sendable {
    let path: String
    private let descriptor: CInt
    private let calls: FileCalls

    /// Opens a file that is there, for reading and writing.
    convenience init(opening path: String, _ calls: FileCalls) throws(AuditFileError) {
        try self.init(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, calls)
    }

    /// Makes a file that is not there yet, for its owner alone.
    convenience init(creating path: String, _ calls: FileCalls) throws(AuditFileError) {
        try self.init(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, calls)
    }

    /// Opens a file for reading alone, as somebody who may not write it does.
    convenience init(reading path: String) throws(AuditFileError) {
        try self.init(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, .system)
    }

    /// Opens a regular file only, and never waits: a named pipe would block until a writer comes.
    private init(_ path: String, _ flags: CInt, _ calls: FileCalls) throws(AuditFileError) {
        // Before it is opened: opening a device can have effects.
        if let kind = Self.irregularKind(path) { throw AuditFileError(path, Self.refusal(kind)) }
        let descriptor = open(path, flags | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw AuditFileError(path, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw AuditFileError(path, Self.refusal("something else"))
        }
        self.path = path
        self.descriptor = descriptor
        self.calls = calls
    }

    private static func refusal(_ kind: String) -> String {
        "is \(kind) and not a regular file; find out who put it there, and move it away"
    }

    static let directoryKind = "a directory"

    /// The kind of an entry other than a regular file; nil for a regular file, or none at all.
    ///
    /// Symbolic links are not followed.
    static func irregularKind(_ path: String) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return nil
        case S_IFDIR: return directoryKind
        case S_IFIFO: return "a named pipe"
        case S_IFLNK: return "a symbolic link"
        case S_IFSOCK: return "a socket"
        case S_IFBLK, S_IFCHR: return "a device"
        default: return "something else"
        }
    }

    deinit {
        // A child that is just being started may have the descriptor for a moment longer.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Opens a file, or makes it, that this process alone may have open so: until the object is gone.
    ///
    /// - Throws: `AuditFileError` also when another process has it.
    convenience init(locking path: String) throws(AuditFileError) {
        try self.init(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, .system)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK
                ? AuditFileError(path, "another process writes this audit; each needs a directory of its own")
                : AuditFileError(path, errno)
        }
    }

    /// Length in bytes.
    func size() throws(AuditFileError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw AuditFileError(path, errno) }
        return Int(status.st_size)
    }

    /// Reads a part; shorter where the file ends.
    func read(from offset: Int, count: Int) throws(AuditFileError) -> [UInt8] {
        var failure: CInt?
        let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            while filled < buffer.count {
                let got = pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled, off_t(offset + filled))
                if got == 0 { return }
                if got > 0 {
                    filled += got
                } else if errno != EINTR {
                    failure = errno
                    return
                }
            }
        }
        if let failure { throw AuditFileError(path, failure) }
        return bytes
    }

    /// Writes all bytes and waits until they are on the disk.
    func write(_ bytes: [UInt8], at offset: Int) throws(AuditFileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { calls.write(descriptor, $0[written...], offset + written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw AuditFileError(path, count < 0 ? errno : EIO) }
            written += count
        }
        try synchronize()
    }

    func synchronize() throws(AuditFileError) {
        guard calls.synchronize(descriptor) == 0 else { throw AuditFileError(path, errno) }
    }

    /// Cuts the file off and waits until that is on the disk.
    func truncate(to size: Int) throws(AuditFileError) {
        guard calls.truncate(descriptor, size) == 0 else { throw AuditFileError(path, errno) }
        try synchronize()
    }

    /// Makes the file as long as this, with room on the disk for all of it.
    func allocate(_ size: Int) throws(AuditFileError) {
        let code = posix_fallocate(descriptor, 0, off_t(size))
        guard code == 0 else { throw AuditFileError(path, code) }
    }
}

/// The calls that a full or failing disk refuses; a test puts others in their place.
package struct FileCalls: Sendable {
    /// `pwrite(2)`: descriptor, bytes, offset.
    package var write: @Sendable (CInt, Slice<UnsafeRawBufferPointer>, Int) -> Int
    /// `fdatasync(2)`.
    package var synchronize: @Sendable (CInt) -> CInt
    /// `ftruncate(2)`: descriptor, length.
    package var truncate: @Sendable (CInt, Int) -> CInt

    package init(
        write: @escaping @Sendable (CInt, Slice<UnsafeRawBufferPointer>, Int) -> Int,
        synchronize: @escaping @Sendable (CInt) -> CInt, truncate: @escaping @Sendable (CInt, Int) -> CInt
    ) {
        self.write = write
        self.synchronize = synchronize
        self.truncate = truncate
    }

    package static let system = FileCalls(
        write: { descriptor, bytes, offset in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes)
            return pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        },
        synchronize: { fdatasync($0) }, truncate: { ftruncate($0, off_t($1)) })
}

/// Why a file of the audit cannot be used.
package struct AuditFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package let path: String
    package let problem: String
    /// The number of the system's error; 0 where it was none of the system's.
    package let code: CInt

    init(_ path: String, _ code: CInt) {
        self.path = path
        self.code = code
        problem = String(cString: strerror(code))
    }

    init(_ path: String, _ problem: String) {
        self.path = path
        self.problem = problem
        code = 0
    }

    package var description: String { "\(path): \(problem)" }

    /// Whether room or the device is what is missing, which comes back by itself; anything else is a mistake of whoever set it
    /// up.
    package var mayPass: Bool { [ENOSPC, EDQUOT, EIO, EFBIG, EMFILE, ENFILE, ENOMEM].contains(code) }

    /// Whether the disk is at fault, and not what was configured.
    package var isOfDisk: Bool { mayPass || code == EROFS }
}
