import Glibc

/// What stat(2) tells of a file.
///
/// For modules that import the certificates of grpc-swift's transport, too: there the compiler takes the structure for some other
/// library's, and wants that imported.
package struct FileStatus: Sendable {
    /// Whether it is a file with bytes of its own, and no pipe, device or folder.
    package let isRegular: Bool
    /// In bytes.
    package let size: Int
    package let owner: UInt32
    package let group: UInt32
    /// The twelve lowest bits of the mode.
    package let permissions: UInt32

    /// Follows links; nil, with `errno` set, where there is no such file, or nobody may look at it.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Nil, with `errno` set, for a descriptor of nothing.
    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        isRegular = status.st_mode & S_IFMT == S_IFREG
        size = Int(status.st_size)
        owner = status.st_uid
        group = status.st_gid
        permissions = UInt32(status.st_mode) & 0o7777
    }
}
