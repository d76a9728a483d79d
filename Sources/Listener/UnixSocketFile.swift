import Glibc

/// The file through which clients find a listening Unix socket.
struct UnixSocketFile: Sendable {
    private let path: String
    private let device: dev_t
    private let inode: ino_t
    private let descriptor: Int32

    /// Binds a socket at a path, which is then ready for listen(2).
    ///
    /// A socket file that a dead process left is removed first. Two processes that find the same dead file at the same
    /// moment could each remove the other's new one; only a lock that both take beforehand prevents that.
    ///
    /// - Parameters:
    ///   - path: where.
    ///   - mode: the permission bits of the file.
    ///   - group: the file's group; nil for the process's own.
    /// - Returns: the descriptor, which the caller owns, and the file.
    /// - Throws: why it cannot be bound.
    static func bind(
        path: String, mode: UInt16, group: SocketGroup? = nil
    ) throws(ListenerError.Reason) -> (descriptor: Int32, file: UnixSocketFile) {
        var address = try socketAddress(path)
        try removeStaleFile(path, &address)
        let descriptor = try makeSocket()
        do throws(ListenerError.Reason) {
            guard withSocketAddress(&address, { Glibc.bind(descriptor, $0, $1) }) == 0 else {
                throw ListenerError.Reason(errno: errno)
            }
            // No moment exists at which a stranger can connect: before listen(2), the caller's next step, the kernel
            // refuses everybody. (The umask would be shared with every thread that creates a file.)
            var status = stat()
            if let group, chown(path, uid_t.max, group.id) != 0 {
                let reason: ListenerError.Reason =
                    errno == EPERM ? .notInGroup(group.name) : ListenerError.Reason(errno: errno)
                unlink(path)
                throw reason
            }
            guard chmod(path, mode_t(mode)) == 0, lstat(path, &status) == 0 else {
                let reason = ListenerError.Reason(errno: errno)
                unlink(path)
                throw reason
            }
            return (
                descriptor,
                UnixSocketFile(path: path, device: status.st_dev, inode: status.st_ino, descriptor: descriptor)
            )
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Removes the file unless another process has put its own in its place.
    func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
        unlink(path)
    }

    /// Whether somebody has connected whom nobody has accepted; only as long as the socket is open.
    var isAnybodyWaiting: Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, 0) == 1 && question.revents & Int16(POLLIN) != 0
    }

    private static func removeStaleFile(_ path: String, _ address: inout sockaddr_un) throws(ListenerError.Reason) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw ListenerError.Reason(errno: errno)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket }
        let descriptor = try makeSocket()
        defer { close(descriptor) }
        let result = withSocketAddress(&address) { connect(descriptor, $0, $1) }
        switch result == 0 ? 0 : errno {
        case ECONNREFUSED, ENOENT: break
        // EAGAIN: somebody listens, and the queue of connections is full.
        case 0, EAGAIN: throw .addressInUse
        case let code: throw ListenerError.Reason(errno: code)
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw ListenerError.Reason(errno: errno) }
    }

    private static func makeSocket() throws(ListenerError.Reason) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw ListenerError.Reason(errno: errno) }
        return descriptor
    }

    private static func socketAddress(_ path: String) throws(ListenerError.Reason) -> sockaddr_un {
        guard path.utf8.count <= ListenerAddress.maximumPathBytes else { throw .pathTooLong }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return address
    }

    private static func withSocketAddress(
        _ address: inout sockaddr_un, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// A group of the machine's, who may connect to a socket by its permissions.
struct SocketGroup: Sendable {
    let name: String
    let id: gid_t

    /// Looks a group up by its name, or takes its number; it blocks.
    ///
    /// - Throws: `noSuchGroup`.
    init(_ text: String) throws(ListenerError.Reason) {
        name = text
        if let number = gid_t(text) {
            id = number
            return
        }
        var record = group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 1024)
        var code = getgrnam_r(text, &record, &buffer, buffer.count, &found)
        // A group with many members needs more room.
        while code == ERANGE, buffer.count < 1 << 20 {
            buffer = [CChar](repeating: 0, count: buffer.count * 4)
            code = getgrnam_r(text, &record, &buffer, buffer.count, &found)
        }
        guard code == 0, found != nil else { throw .noSuchGroup(text) }
        id = record.gr_gid
    }
}
