import Glibc

extension ListenerError.Reason: Error {
    /// Tells what a failed bind(2), connect(2) or stat(2) means to whoever configured the address.
    init(errno code: Int32) {
        self =
            switch code {
            case EADDRINUSE: .addressInUse
            case EACCES, EPERM, EROFS: .permissionDenied
            case EADDRNOTAVAIL: .addressNotAvailable
            case ENOENT, ENOTDIR: .directoryMissing
            case ENAMETOOLONG: .pathTooLong
            case let other: .other(String(cString: strerror(other)))
            }
    }
}
