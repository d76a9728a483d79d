/// A complete response.
///
/// Every status is one, also 4xx and 5xx; a transfer that brings none throws ``CurlError``.
package struct CurlResponse: Sendable {
    /// The protocol that the response came by.
    package enum HTTPVersion: Sendable, Equatable {
        case http1
        case http2
        /// A version that we never ask for.
        case other
    }

    package let status: Int
    package let httpVersion: HTTPVersion
    /// The final response's fields: none of interim (1xx) or proxy responses, and no trailers.
    package let headers: CurlHeaders
    package let body: [UInt8]
    /// Time from handing the transfer to curl to its end.
    package let total: Duration
    /// Part of ``total`` until the TCP connection was there; about zero on a connection that was there already.
    package let connect: Duration
    package let connectionWasReused: Bool
}
