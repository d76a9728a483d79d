import CSystemd
import Glibc

/// Linux settings that keep what is in this process' memory inside it.
package enum ProcessHardening {
    /// Sees to it that no crash writes memory to disk and that no other process of this user reads it.
    ///
    /// Both limits are needed: the resource limit alone does not stop a core handler that is a pipe, and the dumpable
    /// flag, which also shuts `ptrace` and `/proc/PID/mem`, is reset when a program is executed.
    ///
    /// - Throws: the `errno` of the call that the kernel refused.
    ///
    /// Source: core(5), prctl(2) `PR_SET_DUMPABLE`, setrlimit(2)
    package static func disableCoreDumps() throws(SystemdError) {
        guard csystemd_set_dumpable(0) == 0 else { throw SystemdError(operation: "prctl", code: errno) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
            throw SystemdError(operation: "setrlimit", code: errno)
        }
    }

    /// Whether the kernel would refuse to write this process' memory to disk.
    package static var coreDumpsAreDisabled: Bool { csystemd_get_dumpable() == 0 }
}

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
