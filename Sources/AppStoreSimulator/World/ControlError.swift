/// Why the simulation cannot do what was asked of it.
package enum ControlError: Error, Sendable, Equatable {
    /// What was asked makes no sense.
    case invalid(String)
    /// It is about something that does not exist.
    case notFound(String)
    /// It contradicts the present state.
    case conflict(String)
}

extension ControlError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalid(let reason), .notFound(let reason), .conflict(let reason): reason
        }
    }
}
