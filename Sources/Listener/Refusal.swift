import HTTPTypes
import NIOCore

/// The answer to a request that is refused before anybody looks at it.
///
/// Source: RFC 9110 section 15.5, RFC 9457 section 3, RFC 6585 section 5
struct Refusal: Error, Equatable {
    /// The request is not HTTP/1.1 as the grammar has it.
    static let malformed = Refusal(status: .badRequest)

    /// The request did not arrive in time.
    static let tooSlow = Refusal(status: .requestTimeout)

    /// The body is longer than the listener takes.
    static let bodyTooLarge = Refusal(status: .contentTooLarge)

    /// The target and header fields are longer, or more, than the listener takes.
    static let headerTooLarge = Refusal(status: .requestHeaderFieldsTooLarge)

    /// The request is of another HTTP than 1.x.
    static let unknownVersion = Refusal(status: .httpVersionNotSupported)

    let status: HTTPResponse.Status

    /// The body of the answer.
    var body: ByteBuffer {
        ByteBuffer(string: #"{"type":"about:blank","title":"\#(status.reasonPhrase)","status":\#(status.code)}"#)
    }

    /// The head of the answer, which is the last on its connection.
    var head: HTTPResponse {
        HTTPResponse(
            status: status,
            headerFields: [
                .contentType: "application/problem+json", .contentLength: "\(body.readableBytes)",
                .connection: "close",
            ])
    }
}
