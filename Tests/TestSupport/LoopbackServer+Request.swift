package import HTTPTypes

extension LoopbackServer {
    /// A request as the server got it.
    package struct Request: Sendable {
        /// The head with all fields, those of HTTP/2 and the connection included.
        package let head: HTTPRequest
        package let body: [UInt8]
        /// The client's port, which tells connections apart.
        package let connection: Int

        package var method: String { head.method.rawValue }

        /// Path and query, or empty.
        package var path: String { head.path ?? "" }

        /// The value of the field with this name, of several all with commas between, or nil.
        package func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { head.headerFields[$0] } }
    }
}
