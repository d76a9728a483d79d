/// One call of Apple's server APIs with its parameters, but without host, token and body.
package struct Endpoint: Sendable, Hashable {
    package let operation: Operation
    /// The parameters of the path in its order, as they are, not encoded.
    package let pathParameters: [String]
    /// The query's parameters in the order in which they are sent; a name can occur several times.
    package let query: [QueryParameter]

    /// A call with as many path parameters as its path template has.
    package init(_ operation: Operation, _ pathParameters: [String] = [], query: [QueryParameter] = []) {
        self.operation = operation
        self.pathParameters = pathParameters
        self.query = query
    }

    /// The title of Apple's page for the call.
    package var name: String { operation.name }

    /// The HTTP method.
    package var method: String { operation.method }

    /// The path, percent-encoded.
    package var path: String {
        var parameters = pathParameters.makeIterator()
        var path = ""
        // By bytes: this runs for every call, and finding characters costs ten times as much.
        for segment in operation.pathTemplate.utf8.split(separator: UInt8(ascii: "/")) {
            path += "/"
            if segment.first == UInt8(ascii: "{") {
                path += PercentEncoding.encode(pathSegment: parameters.next() ?? "")
            } else {
                path += Substring(segment)
            }
        }
        return path
    }

    /// What follows the host in the URL: path and query, percent-encoded.
    package var pathAndQuery: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map(\.encoded).joined(separator: "&")
    }
}
