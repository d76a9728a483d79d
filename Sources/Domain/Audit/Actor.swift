/// Who does something, as the audit names them; not the concurrency library's `Actor`, which is `_Concurrency.Actor` where this is
/// imported.
package enum Actor: Sendable, Hashable {
    /// An internal service that has proved who it is.
    case caller(String)
    /// Somebody at the operators' socket: the peer's user id, which the kernel tells, and the name that was claimed with
    /// `--as`, which nobody has checked.
    case `operator`(uid: UInt32, claimedName: String? = nil)
    /// The service itself, or a command of its program.
    case daemon
    /// Somebody who has not proved who it is.
    case unauthenticated

    /// As records write it: `caller:billing`, `operator:1000`, `daemon`, `unauthenticated`.
    package var name: String {
        switch self {
        case .caller(let name): "caller:\(name)"
        case .operator(let uid, _): "operator:\(uid)"
        case .daemon: "daemon"
        case .unauthenticated: "unauthenticated"
        }
    }

    /// The name that an operator claims, if any.
    package var claimedName: String? {
        if case .operator(_, let name) = self { name } else { nil }
    }
}
