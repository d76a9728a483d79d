extension Endpoint.Operation {
    /// Which call a method and a path mean.
    package enum Match: Sendable, Equatable {
        /// The call with its path parameters, in the order of the path, still percent-encoded.
        case found(Endpoint.Operation, parameters: [Substring])
        /// The path is right, the method is not.
        case otherMethod(allowed: [String])
        case unknown
    }

    /// Finds the call of a request.
    ///
    /// Paths are compared case by case; a path that is spelt out wins over one that takes a parameter in that place.
    ///
    /// - Parameters:
    ///   - method: the HTTP method, in capitals.
    ///   - path: the path without query, percent-encoded.
    /// - Returns: the call, or why there is none.
    package static func match(method: String, path: Substring) -> Match {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let fitting = templates.filter { $0.fits(segments) }
        guard let fewest = fitting.map(\.parameterCount).min() else { return .unknown }
        let candidates = fitting.filter { $0.parameterCount == fewest }
        guard let template = candidates.first(where: { $0.operation.method == method }) else {
            return .otherMethod(allowed: candidates.map(\.operation.method))
        }
        return .found(template.operation, parameters: template.parameters(of: segments))
    }

    private struct Template: Sendable {
        let operation: Endpoint.Operation
        let segments: [Substring]

        var parameterCount: Int { segments.count { $0.hasPrefix("{") } }

        func fits(_ path: [Substring]) -> Bool {
            path.count == segments.count
                && zip(segments, path).allSatisfy { $0.hasPrefix("{") ? !$1.isEmpty : $0 == $1 }
        }

        func parameters(of path: [Substring]) -> [Substring] {
            zip(segments, path).compactMap { $0.hasPrefix("{") ? $1 : nil }
        }
    }

    private static let templates = allCases.map { operation in
        Template(
            operation: operation,
            segments: operation.pathTemplate.split(separator: "/", omittingEmptySubsequences: false))
    }
}
