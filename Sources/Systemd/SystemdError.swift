import Glibc

/// A call into libsystemd, or into the kernel beside it, that failed.
package struct SystemdError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The C function that failed, for example `sd_notify`.
    package let operation: String

    /// The positive `errno` value that it gave, see errno(3).
    package let code: Int32

    /// The C library's text for ``code``.
    package let message: String

    package var description: String { "\(operation) failed: \(message) (errno \(code))" }

    init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
        self.message = String(cString: strerror(code))
    }
}
