import AppStoreAPI

/// Which call a path means.
enum Route: Sendable, Equatable {
    /// The call with its path parameters, percent-decoded.
    case operation(Endpoint.Operation, parameters: [String])
    /// The path is right, the method is not.
    case otherMethod(allowed: String)
    case unknown

    init(method: String, path: Substring) {
        switch Endpoint.Operation.match(method: method, path: path) {
        case .found(let operation, let parameters):
            self = .operation(operation, parameters: parameters.map { PercentDecoding.decode($0) })
        case .otherMethod(let allowed): self = .otherMethod(allowed: allowed.joined(separator: ", "))
        case .unknown: self = .unknown
        }
    }
}
