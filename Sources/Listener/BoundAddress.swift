/// Where a listener really listens.
package enum BoundAddress: Sendable, Equatable {
    /// A TCP port; when any free one was asked for, this is the one that was found.
    case tcp(host: String, port: Int)

    /// A Unix domain stream socket.
    case unix(path: String)
}

extension BoundAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tcp(let host, let port): ListenerAddress.tcp(host: host, port: port).description
        case .unix(let path): "unix:\(path)"
        }
    }
}
