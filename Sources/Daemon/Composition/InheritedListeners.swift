import Listener
import Systemd

/// Which listener each socket is for that the service manager has handed over.
struct InheritedListeners: Sendable {
    /// What is wrong with the socket units; another start would meet the same.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    private let descriptors: [String: Int32]

    /// Assigns sockets by their names.
    ///
    /// - Parameters:
    ///   - sockets: what was handed over.
    ///   - configuration: which listeners there are to be.
    /// - Throws: `Problem` for a name that no listener of the configuration has, or that two sockets have.
    init(_ sockets: [InheritedSocket], for configuration: ListenersConfiguration) throws(Problem) {
        var descriptors: [String: Int32] = [:]
        for socket in sockets {
            guard ListenersConfiguration.names.contains(socket.name) else {
                let names = ListenersConfiguration.names.map { "`\($0)`" }.joined(separator: ", ")
                throw Problem(
                    description:
                        "The service manager hands over a socket named `\(socket.name)`, but no listener has this name; set FileDescriptorName= of its socket unit to one of \(names)."
                )
            }
            guard let settings = configuration[socket.name] else {
                throw Problem(
                    description:
                        "The service manager hands over a socket for the listener `\(socket.name)`, which is switched off; set `listeners.\(socket.name).address` to where the socket listens, or disable its socket unit."
                )
            }
            if let problem = Self.openness(of: settings, socket.name) { throw problem }
            guard descriptors.updateValue(socket.descriptor, forKey: socket.name) == nil else {
                throw Problem(
                    description:
                        "The service manager hands over two sockets for the listener `\(socket.name)`, which has one address; leave one ListenStream= in its socket unit."
                )
            }
        }
        self.descriptors = descriptors
    }

    /// Why the Unix socket of an operators' listener must not be used: every user of the machine may connect.
    ///
    /// systemd makes sockets so unless the unit says otherwise (`SocketMode=`, whose default is 0666).
    private static func openness(of settings: ListenerSettings, _ name: String) -> Problem? {
        guard ConfigurationParser.operatorListeners.contains(name), !settings.allowsEverybody,
            case .unix(let path, _) = settings.address, let status = FileStatus(path: path),
            status.permissions & 0o002 != 0
        else { return nil }
        return Problem(
            description:
                "Every user of the machine can connect to \(path), the socket of the listener `\(name)`, and do everything that an operator can; write SocketMode=0600, or SocketMode=0660 and SocketGroup=, into its socket unit, or confirm it with `listeners.\(name).allowEverybody: true`."
        )
    }

    /// The socket of a listener; nil where it opens its own.
    subscript(name: String) -> Int32? { descriptors[name] }
}
