package import HTTPTypes
import HummingbirdCore
package import NIOCore
import NIOHTTPTypes

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

    /// A field that decides how the connection is read contains more than visible ASCII, spaces and tabs.
    ///
    /// `field`: one of our names, so that nothing of the request is in the response.
    static func characters(of field: String) -> Refusal {
        Refusal(
            status: .badRequest,
            detail: "The header field `\(field)` may contain tab and U+0020 to U+007E only.")
    }

    let status: HTTPResponse.Status
    /// What is wrong and where; nil where the status says it all.
    var detail: String?

    /// The body of the answer.
    var body: ByteBuffer {
        let detail = detail.map { #","detail":"\#($0)""# } ?? ""
        return ByteBuffer(
            string: #"{"type":"about:blank","title":"\#(status.reasonPhrase)","status":\#(status.code)\#(detail)}"#)
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

    /// The answer of a listener that has been told to speak another protocol.
    static let answerNobody: Responder = { _, _, _ in Response(status: .notImplemented) }

    /// The answer to a request too many, for a listener whose owner has none of its own; the connection stays.
    static let answerOverload: OverloadAnswer = { _ in
        let refusal = Refusal(status: .serviceUnavailable)
        return (
            HTTPResponse(
                status: refusal.status,
                headerFields: [.contentType: "application/problem+json", .retryAfter: "1"]), refusal.body
        )
    }
}

/// An answer to a request that is not worked on: its head, without the length, and its body.
package typealias EarlyAnswer = (head: HTTPResponse, body: ByteBuffer)

/// Answers a request that cannot be worked on because too many others are.
package typealias OverloadAnswer = @Sendable (HTTPRequest) -> EarlyAnswer

/// A request that nobody is to look at is answered here, on the event loop: what comes behind costs many times more than saying no.
extension ConnectionGuard {
    /// Sends an answer that is not a responder's; the connection stays.
    func send(_ answer: EarlyAnswer, to request: HTTPRequest, _ context: ChannelHandlerContext) {
        var (head, body) = answer
        head.headerFields[.contentLength] = String(body.readableBytes)
        write(context: context, data: wrapOutboundOut(.head(head)), promise: nil)
        // A body behind an answer to HEAD would be taken for the beginning of the next answer.
        if request.method != .head { write(context: context, data: wrapOutboundOut(.body(body)), promise: nil) }
        write(context: context, data: wrapOutboundOut(.end(nil)), promise: nil)
        flush(context: context)
    }
}
