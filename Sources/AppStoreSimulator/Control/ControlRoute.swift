/// One route of the control port.
struct ControlRoute: Sendable {
    typealias Handler = @Sendable (ControlService, ControlRequest) throws(ControlError) -> OutgoingResponse

    let method: String
    /// The path, with names in braces for parameters.
    let path: String
    let handler: Handler

    init(_ method: String, _ path: String, _ handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
    }

    /// The path's parameters in order, or nil if it is another path.
    func parameters(of path: Substring) -> [String]? {
        let pattern = self.path.split(separator: "/", omittingEmptySubsequences: false)
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        guard pattern.count == segments.count else { return nil }
        var parameters: [String] = []
        for (expected, segment) in zip(pattern, segments) {
            if expected.hasPrefix("{") {
                guard !segment.isEmpty else { return nil }
                parameters.append(PercentDecoding.decode(segment))
            } else if expected != segment {
                return nil
            }
        }
        return parameters
    }
}
