import Glibc

/// A listener cannot listen.
package struct ListenerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Why it cannot.
    package enum Reason: Error, Sendable, Equatable {
        /// Another program listens there.
        case addressInUse

        /// This user may not listen there.
        case permissionDenied

        /// No interface of this machine has the address.
        case addressNotAvailable

        /// The directory of the Unix socket does not exist.
        case directoryMissing

        /// The path of the Unix socket does not fit the kernel's structure.
        case pathTooLong

        /// At the path of the Unix socket there is a file of another kind.
        case notASocket

        /// The machine has no group of this name.
        case noSuchGroup(String)

        /// The process may not give a file to this group, because it is no member.
        case notInGroup(String)

        /// The certificate or its key cannot be used; the library's text, which names the file.
        case certificateUnusable(String)

        /// The authorities of clients' certificates cannot be used; a text that names the file.
        case authoritiesUnusable(String)

        /// What was handed over is no listening stream socket with an address.
        case notListening

        /// What was handed over listens somewhere else, at this address.
        case inheritedElsewhere(String)

        /// It is bound or running already, or has run.
        case alreadyUsed

        /// The listening socket was closed by something else than shutdown.
        case closedUnexpectedly

        /// The system's text for anything else.
        case other(String)

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

    /// The name of the listener.
    package let listener: String

    /// Where it was to listen.
    package let address: ListenerAddress

    /// Why it cannot.
    package let reason: Reason

    package init(listener: String, address: ListenerAddress, reason: Reason) {
        self.listener = listener
        self.address = address
        self.reason = reason
    }

    /// What is wrong and how to put it right.
    package var description: String {
        let fix = fix
        return "Listener \(listener) cannot listen on \(address): \(problem)\(fix.isEmpty ? "" : "; \(fix)")"
    }

    private var problem: String { Self.text(of: reason) }

    /// What is wrong, without how to put it right.
    static func text(of reason: Reason) -> String {
        switch reason {
        case .addressInUse: "another program listens there"
        case .permissionDenied: "permission denied"
        case .addressNotAvailable: "no interface of this machine has this address"
        case .directoryMissing: "the directory does not exist"
        case .pathTooLong: "the path is longer than \(ListenerAddress.maximumPathBytes) bytes"
        case .notASocket: "a file that is not a socket is in the way"
        case .noSuchGroup(let name): "there is no group \(name)"
        case .notInGroup(let name): "the process is no member of the group \(name)"
        case .certificateUnusable(let text): "its certificate or key cannot be used (\(text))"
        case .authoritiesUnusable(let text): "the authorities of its clients cannot be used (\(text))"
        case .notListening: "what the service manager hands over is no listening stream socket with an address or path"
        case .inheritedElsewhere(let address): "the socket that the service manager hands over listens on \(address)"
        case .alreadyUsed: "it was started before"
        case .closedUnexpectedly: "its socket was closed"
        case .other(let text): text
        }
    }

    private var fix: String {
        switch (reason, address) {
        case (.addressInUse, .tcp): "stop that program (ss -ltnp shows which it is) or configure another port"
        case (.addressInUse, .unix): "stop that program (ss -lxp shows which it is) or configure another path"
        case (.permissionDenied, .tcp): "use a port above 1023 or grant CAP_NET_BIND_SERVICE"
        case (.permissionDenied, .unix): "let this user write to the directory, or configure another path"
        case (.addressNotAvailable, _): "configure one that `ip address` shows"
        case (.directoryMissing, _): "create it (in a unit file: RuntimeDirectory=) or configure another path"
        case (.pathTooLong, _): "configure a shorter one"
        case (.notASocket, _): "move the file away or configure another path"
        case (.noSuchGroup(let name), _): "make it (groupadd --system \(name)), or configure another"
        case (.notInGroup(let name), _): "add it to the service (in a unit file: SupplementaryGroups=\(name))"
        case (.certificateUnusable, _):
            "the certificate chain and its private key must be PEM files that this user may read and that belong together"
        case (.authoritiesUnusable, _):
            "name a PEM file with the roots that issue certificates to clients, which this user may read"
        case (.notListening, _): "hand over one with ListenStream= in a socket unit"
        case (.inheritedElsewhere, _): "make ListenStream= of the socket unit and the configured address the same"
        case (.alreadyUsed, _), (.closedUnexpectedly, _), (.other, _): ""
        }
    }
}
