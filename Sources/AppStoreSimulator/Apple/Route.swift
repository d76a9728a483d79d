import AppStoreAPI

/// Which call a path means.
enum Route: Sendable, Equatable {
    case operation(Endpoint.Operation, identifier: String)
    /// The path is right, the method is not.
    case otherMethod(allowed: String)
    case unknown

    /// Finds the call; paths are compared case by case, and the identifier is one segment, decoded here.
    init(method: String, path: Substring) {
        self = .unknown
        for operation in Endpoint.Operation.allCases where path.hasPrefix(operation.pathPrefix) {
            let segment = path.dropFirst(operation.pathPrefix.count)
            guard !segment.isEmpty, !segment.contains("/") else { continue }
            self =
                operation.method == method
                ? .operation(operation, identifier: PercentDecoding.decode(segment))
                : .otherMethod(allowed: operation.method)
            return
        }
    }
}
