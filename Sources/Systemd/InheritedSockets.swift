import CSystemd
import Glibc

/// A listening socket that the service manager has opened for this process.
package struct InheritedSocket: Sendable, Equatable {
    /// What its unit calls it (`FileDescriptorName=`).
    package let name: String
    /// Closed when another program is started; owned by whoever listens with it, and by nobody before.
    package let descriptor: Int32

    package init(name: String, descriptor: Int32) {
        self.name = name
        self.descriptor = descriptor
    }

    /// The sockets that were handed over to this process, in the order of `LISTEN_FDS`; none without socket units.
    ///
    /// The environment is left as it is: it names the process for which it is meant (`LISTEN_PID`), and changing it while threads
    /// run is not safe.
    ///
    /// Source: sd_listen_fds_with_names(3)
    /// - Throws: `EINVAL` when the variables are malformed, and the `errno` of fcntl(2).
    package static func all() throws(SystemdError) -> [InheritedSocket] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(0, &names)
        guard count >= 0 else { throw SystemdError(operation: "sd_listen_fds_with_names", code: -count) }
        defer { free(names) }
        return (0..<count).map { index in
            let name = names?[Int(index)]
            defer { free(name) }
            return InheritedSocket(
                // systemd's own word for one without a name.
                name: name.map { String(cString: $0) } ?? "unknown", descriptor: SD_LISTEN_FDS_START + index)
        }
    }
}
